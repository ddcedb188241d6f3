// What travels over Redis between workers and gateways: wake-ups and frames that anyone may lose (R16).
import type { Announcement } from '../events/committed.js';

/** Text of a message that is being written. Lower epochs than seen for the run are dropped. */
export interface DeltaFrame {
  projectId: string;
  runId: string;
  epoch: number;
  messageId: string;
  blockIndex: number;
  blockType: 'text' | 'thinking' | 'tool_use';
  /** UTF-16 code units of the block before this text. */
  offset: number;
  text: string;
}

/** Says that a command's output was committed up to `headOffset`. */
export interface OutputFrame {
  projectId: string;
  runId: string;
  headOffset: number;
  ended: boolean;
}

export type LiveFrame =
  | { kind: 'announcement'; announcement: Announcement }
  | { kind: 'delta'; delta: DeltaFrame }
  | { kind: 'output'; output: OutputFrame };
