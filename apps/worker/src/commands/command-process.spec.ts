// Which process a command's run works with after its first worker died at one point or another.
import type { ProcessInfo, ProcessRecord } from '#domain';
import { AppError, newId } from '#kernel';
import type { RunContext } from '../runs/run-driver.port.js';
import { attachCommand, DeadProcessError, type ProcessStore } from './command-process.js';

/** Attaches to a process of before: its row's state, and what the sandbox says of it. */
async function adopt(state: ProcessRecord['state'], info: Partial<ProcessInfo> | undefined) {
  const log: string[] = [];
  const known = { processId: 'own', state, epoch: 4, outOffset: 300 } as ProcessRecord;
  const store: Partial<ProcessStore> = {
    adoptProcess: async () => ({ process: { ...known, epoch: 5 }, startOffset: 0 }),
    processLive: async ({ processId, processEpoch }, { pid, bootId }) =>
      void log.push(`${processId} live at ${processEpoch}: ${pid} in ${bootId}`),
  };
  const connection = {
    bootId: 'boot',
    info: async () => {
      if (info === undefined) throw new AppError('sandbox.process_not_found', 'There is no such process.');
      return info;
    },
    start: async () => {
      log.push('start');
      return { pid: 8 };
    },
    attach: async () => ({}),
  };
  const run = { runId: newId(), projectId: newId(), argv: ['true'], shellCommand: null, workingDir: null, options: {} };
  const context = { claimed: { run, process: known }, connection } as unknown as RunContext;
  const attaching = attachCommand(store as ProcessStore, context);
  return { log, context, attached: await attaching.catch((error: unknown) => error) };
}

describe('attachCommand', () => {
  it('ENG-47 makes live what was started by a worker that did not live to say so', async () => {
    const { log, context } = await adopt('starting', { state: 'running', pid: 7 });
    expect(log).toEqual(['own live at 5: 7 in boot']);
    expect(context.heldProcess).toEqual({ processId: 'own', processEpoch: 5 });
  });

  it('ENG-33 starts what was registered and never started, and nothing else', async () => {
    expect((await adopt('starting', undefined)).log).toEqual(['start', 'own live at 5: 8 in boot']);
    expect((await adopt('starting', { state: 'exited' })).log).toEqual([]);
    expect((await adopt('live', { state: 'running' })).log).toEqual([]);
    const gone = await adopt('live', undefined);
    expect(gone.attached).toBeInstanceOf(DeadProcessError);
    expect(gone.log).toEqual([]);
  });
});
