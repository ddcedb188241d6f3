// Stored output of commands, by byte offset.
import type { StreamChannel } from '#kernel';

export interface OutputChunkRecord {
  offset: number;
  channel: StreamChannel;
  data: Uint8Array;
}
export interface OutputHead {
  runId: string;
  projectId: string;
  /** Bytes stored so far. */
  headOffset: number;
  /** The run is over and no byte will follow. */
  ended: boolean;
  exitCode: number | null;
  reason: string;
}
export interface OutputStore {
  /** Chunks that overlap [fromOffset, fromOffset + maxBytes), the first one cut to begin at fromOffset. */
  read(runId: string, fromOffset: number, maxBytes: number): Promise<OutputChunkRecord[]>;
  /** Undefined for unknown runs and for runs that are no commands. */
  head(runId: string): Promise<OutputHead | undefined>;
}
