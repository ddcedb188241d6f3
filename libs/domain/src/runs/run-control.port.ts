// Steering a run that is at work: what people ask for is an intent, a row that outlives every process (R5); the worker that has the run
// carries it out and records that in the same transaction as its effect.
import type { Committed } from '../events/committed.js';
import type { IntentKind } from '#kernel';
import type { RunFence } from './execution-store.port.js';
import type { RunRecord } from './run-record.js';

/** What a person may change of the agent in the middle of a turn. */
export interface AgentSetting {
  model?: string | null;
  permissionMode?: string | null;
}

/** A piece of input for a command that reads (`stdin: 'pipe'`), numbered from 1 by its writers. */
export interface CommandInput {
  runId: string;
  userId: string;
  inputSeq: number;
  data: Uint8Array;
  /** Nothing follows: the program reads the end of its stdin after this. */
  eof: boolean;
}
export interface InputPiece extends Pick<CommandInput, 'inputSeq' | 'data' | 'eof'> {
  intentId: string;
}

/** The clients' side. All throw `run.not_found`; `run.already_finished` for a run that is over; `run.not_active` with its status. */
export interface RunControl {
  /** Ends the turn of a prompt, or sends INT to a command. Not for queued runs. */
  interrupt(runId: string, userId: string): Promise<Committed<RunRecord>>;
  /** Holds everything that the run started still. For a run that is dispatched or running; of one that is paused nothing changes. */
  pause(runId: string, userId: string): Promise<Committed<RunRecord>>;
  /** For a run that is paused, or is about to be. */
  resume(runId: string, userId: string): Promise<Committed<RunRecord>>;
  /**
   * Stored before it is acknowledged; a number that was taken before changes nothing. Throws `run.input_out_of_order` with the number that is
   * expected, `sandbox.input_closed`, `sandbox.input_full`, and `run.not_active` for a run that is over.
   */
  input(input: CommandInput): Promise<Committed<{ duplicate: boolean }>>;
}

/** A run under an attachment, and where its events go. */
export interface ControlFence extends RunFence {
  projectId: string;
}

/** The worker's side. All throw `write.fenced` for an old epoch, and change nothing then. */
export interface RunControlStore {
  /** The effect of the intent is done. */
  applyIntent(fence: ControlFence, intentId: string): Promise<void>;
  /** running -> paused, with the intent that asked for it. False, and the intent stays open, when the run is in another state now. */
  pauseRun(fence: ControlFence, intentId: string, activeMs: number): Promise<Committed<boolean>>;
  /** paused -> running, or waiting while a question is open; gives the run's status after it. */
  continueRun(fence: ControlFence, intentId?: string): Promise<Committed<RunRecord>>;
  /** How long the run was at work until its worker let go of it. */
  noteActiveTime(fence: ControlFence, activeMs: number): Promise<void>;
  /** Input that waits to be written, in order. */
  waitingInput(runId: string): Promise<InputPiece[]>;
  /** The piece was written, or the program takes nothing any more. */
  inputWritten(fence: ControlFence, piece: { intentId: string; closed: boolean }): Promise<void>;
  /** Whether somebody ever asked for this of the run. */
  wasAsked(runId: string, kind: IntentKind): Promise<boolean>;
}
