import type { ProcessExit, RunRecord } from '#domain';
import { newId } from '#kernel';
import type { EndingReason } from '../runs/run-outcomes.js';
import { commandOutcome } from './command-outcome.js';

const run = { runId: newId(), timeoutMs: 5_000 } as RunRecord;
const EXIT: ProcessExit = { code: null, signal: null, outOfMemory: false };
const ended = { run, interrupted: false, activeMs: 11, durationMs: 12, endOffset: 13 };
const outcomeOf = (exit: Partial<ProcessExit>, stopped?: EndingReason) =>
  commandOutcome({ ...ended, exit: { ...EXIT, ...exit }, stopped });

describe('commandOutcome', () => {
  it.each<[Partial<ProcessExit>, boolean, string]>([
    [{ signal: 'SIGINT' }, true, 'interrupted'],
    [{ code: 130 }, true, 'interrupted'],
    [{ code: 0 }, true, 'succeeded'],
    [{ code: 3 }, true, 'failed'],
    [{ signal: 'SIGINT' }, false, 'failed'],
  ])('SES-2 of %j, asked to end: %s, is %s', (exit, interrupted, status) => {
    expect(commandOutcome({ ...ended, interrupted, exit: { ...EXIT, ...exit }, stopped: undefined }).status).toBe(
      status,
    );
  });

  it.each<[Partial<ProcessExit>, object]>([
    [{ code: 0 }, { status: 'succeeded', exitCode: 0 }],
    [{ code: 3 }, { status: 'failed', exitCode: 3 }],
    [{ signal: 'SIGSEGV' }, { status: 'failed', exitSignal: 'SIGSEGV' }],
    [{ spawnError: 'ENOENT', spawnErrorAt: 'program' }, { error: { code: 'command.not_found' } }],
    [{ spawnError: 'EACCES', spawnErrorAt: 'program' }, { error: { code: 'command.spawn_failed' } }],
    [{ spawnError: 'ENOENT', spawnErrorAt: 'cwd' }, { error: { code: 'command.working_directory' } }],
    [{ signal: 'SIGKILL', outOfMemory: true }, { error: { code: 'sandbox.out_of_memory' } }],
    [
      { code: 137, outOfMemory: true },
      { error: { code: 'sandbox.out_of_memory' }, exitCode: 137 },
    ],
    [{ lost: true }, { status: 'failed', error: { code: 'sandbox.lost' } }],
  ])('ENG-32 says how %j ended', (exit, expected) => {
    expect(outcomeOf(exit)).toMatchObject({ activeMs: 11, endOffset: 13, ...expected });
  });

  it('ENG-32 has no error for a command that ended by itself', () => {
    expect(outcomeOf({ code: 1 })).not.toHaveProperty('error');
  });

  it.each<[EndingReason, string, string]>([
    [{ kind: 'cancel', by: newId() }, 'cancelled', 'run.cancelled'],
    [{ kind: 'timeout' }, 'timed_out', 'run.timed_out'],
    [{ kind: 'shutdown' }, 'interrupted', 'run.interrupted'],
  ])('ENG-23 says why a command was stopped: %j', (stopped, status, code) => {
    expect(outcomeOf({ signal: 'SIGINT' }, stopped)).toMatchObject({ status, error: { code }, exitSignal: 'SIGINT' });
  });

  it('ENG-32 tells of the end in an event, duration and last offset included', () => {
    expect(outcomeOf({ code: 2 }).events).toEqual([
      {
        type: 'command.finished',
        runId: run.runId,
        payload: { exit_code: 2, duration_ms: 12, end_offset: 13 },
      },
    ]);
  });
});
