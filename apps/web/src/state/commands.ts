// The commands of a project, from the events that are loaded and the server's history of them.
import { FINAL_RUN_STATUSES, type RunStatus } from '#kernel';
import type { ClientData } from '#protocol';
import type { EventLog } from './event-log.js';

import { readEvent, type WireEvent } from './wire-event.js';

export type CommandHistory = ClientData<'get_command_history'>['sessions'];

export interface Command {
  readonly runId: string;
  readonly shellCommand: string;
  readonly workingDirectory: string;
  readonly status: RunStatus;
  readonly startedAt: string;
  readonly exitCode?: number | undefined;
  readonly exitSignal?: string | undefined;
  readonly durationMs?: number | undefined;
  /** Bytes of output, once it is over. */
  readonly endOffset?: number | undefined;
  readonly error?: { code: string; message: string } | undefined;
}

/** The parts of a project's view that its commands follow from. */
export interface CommandSources {
  readonly log: EventLog;
  readonly commandHistory?: CommandHistory | undefined;
}

const collected = new WeakMap<
  EventLog,
  { history: CommandHistory | undefined; commands: ReadonlyMap<string, Command> }
>();

/** The commands of a view, by run id; the same object for as long as nothing changed that they depend on. */
export function commandsOf({ log, commandHistory: history }: CommandSources) {
  const held = collected.get(log);
  if (held !== undefined && held.history === history) return held.commands;
  const commands: ReadonlyMap<string, Command> = collectCommands(log.events, history ?? []);
  collected.set(log, { history, commands });
  return commands;
}

/** By run id; events win over the history, which may have been asked for before them. */
export function collectCommands(events: readonly WireEvent[], history: CommandHistory): Map<string, Command> {
  const commands = new Map<string, Command>();
  for (const entry of history) {
    commands.set(entry.run_id, {
      runId: entry.run_id,
      shellCommand: entry.shell_command,
      workingDirectory: entry.working_directory,
      status: entry.status,
      startedAt: entry.timestamp,
      exitCode: entry.exit_code,
      durationMs: entry.duration_ms,
    });
  }
  for (const event of events) {
    if (event.run_id !== undefined) learn(commands, event.run_id, event);
  }
  return commands;
}

/** Newest first. */
export function newestCommands(commands: ReadonlyMap<string, Command>): Command[] {
  return [...commands.values()].sort((a, b) => (a.runId < b.runId ? 1 : -1)); // UUIDv7: ordered by time
}

export function isFinal(status: RunStatus): boolean {
  return (FINAL_RUN_STATUSES as readonly RunStatus[]).includes(status);
}

function learn(commands: Map<string, Command>, runId: string, event: WireEvent): void {
  const read = readEvent(event);
  const known = commands.get(runId);
  if (read.type === 'run.queued' && read.payload.kind === 'command') {
    const { title: shellCommand } = read.payload;
    const queued = {
      runId,
      shellCommand,
      workingDirectory: '',
      status: 'queued',
      startedAt: event.created_at,
    } as const;
    commands.set(runId, { ...queued, ...known });
  } else if (read.type === 'command.started') {
    const { shell_command: shellCommand, working_directory: workingDirectory } = read.payload;
    const status = known !== undefined && isFinal(known.status) ? known.status : 'running';
    commands.set(runId, { ...known, runId, shellCommand, workingDirectory, status, startedAt: event.created_at });
  } else if (known === undefined) {
    return;
  } else if (read.type === 'command.finished') {
    const {
      exit_code: exitCode,
      exit_signal: exitSignal,
      duration_ms: durationMs,
      end_offset: endOffset,
    } = read.payload;
    commands.set(runId, { ...known, exitCode, exitSignal, durationMs, endOffset });
  } else if (read.type === 'run.finished' || read.type === 'run.cancelled') {
    const { status, error, exit_code: exitCode, duration_ms: durationMs } = read.payload;
    commands.set(runId, {
      ...known,
      status,
      error,
      exitCode: known.exitCode ?? exitCode,
      durationMs: known.durationMs ?? durationMs,
    });
  }
}
