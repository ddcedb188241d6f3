// What a fake process does: a script for each program name, instead of programs. Tests of the worker add their own.
import type { ProcessSignal } from '#domain';

/** What a script sees of its process. Everything rejects with ScriptKilled once a signal has ended the process. */
export interface ScriptIo {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Input in the pieces in which it was given; ends at `closeInput`, at once for stdin `null`. */
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Resolves when the spool has room for more: a script that awaits it is held back at the cap. */
  readonly stdout: (data: string | Uint8Array) => Promise<void>;
  readonly stderr: (data: string | Uint8Array) => Promise<void>;
  /** Handles a signal that would otherwise end the process. SIGKILL, SIGSTOP and SIGCONT cannot be handled. */
  readonly onSignal: (signal: ProcessSignal, handler: () => void) => void;
  /** Never resolves; rejects when a signal ends the process. */
  readonly untilKilled: () => Promise<never>;
  /** Another process that does nothing but live: in this one's group, in a session of its own, or double-forked away from it. */
  readonly fork: (name: string, place: 'group' | 'session' | 'orphan') => void;
}

/** Resolves with the exit code; throw ScriptDeath to end by a signal. */
export type Script = (io: ScriptIo) => Promise<number>;
export type ScriptRegistry = Readonly<Record<string, Script>>;

/** Ends the fake process by a signal of its own accord. */
export class ScriptDeath extends Error {
  constructor(
    readonly signal: string,
    readonly outOfMemory: boolean,
  ) {
    super(`The fake process died of ${signal}.`);
  }
}

/** Unwinds a script whose process was ended by a signal. */
export class ScriptKilled extends Error {
  constructor(readonly signal: ProcessSignal) {
    super(`The fake process was ended by ${signal}.`);
  }
}
