// Stored output of commands, by byte offset.
import type { StreamChannel } from '#kernel';
import type { OutputCut } from './output-cut.js';

export interface OutputChunkRecord {
  offset: number;
  channel: StreamChannel;
  data: Uint8Array;
}
export interface OutputHead {
  runId: string;
  projectId: string;
  /** Bytes written so far; those that a cap dropped and those that expired count. */
  headOffset: number;
  /** What a cap dropped. */
  cut: OutputCut | null;
  /** When retention deleted what was stored; nothing is left then. */
  expiredAt: Date | null;
  /** The run is over and no byte will follow. */
  ended: boolean;
  exitCode: number | null;
  reason: string;
}
export interface OutputStore {
  /**
   * Chunks that overlap [fromOffset, fromOffset + maxBytes), the first one cut to begin at fromOffset. Not all of them when they are many:
   * what follows is read from the end of the last. A hole shows as a jump of offsets; no chunk means that none of these bytes is stored.
   */
  read(runId: string, fromOffset: number, maxBytes: number): Promise<OutputChunkRecord[]>;
  /** Offset of the first stored byte from `fromOffset` on; undefined when there is none. */
  nextStored(runId: string, fromOffset: number): Promise<number | undefined>;
  /** Undefined for unknown runs and for runs that are no commands. */
  head(runId: string): Promise<OutputHead | undefined>;
}
