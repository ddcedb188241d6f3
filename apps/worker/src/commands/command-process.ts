// Finds or starts the process of a command run - at most once ever, whoever died in between (R4, R8).
import type { ExecutionStore, ProcessFence, ProcessInfo, ProcessOutput, ProcessRecord } from '#domain';
import { isAppError, newId } from '#kernel';
import type { RunContext } from '../runs/run-driver.port.js';
import { commandArgv, commandDirectory, commandEnvironment } from './command-line.js';

export type ProcessStore = Pick<ExecutionStore, 'beginProcess' | 'adoptProcess' | 'processLive'>;

export interface AttachedCommand {
  process: ProcessRecord;
  output: ProcessOutput;
  /** Offset of the process at which the run begins. */
  runStart: number;
}

/** Throws DeadProcessError when the process went with its sandbox. */
export async function attachCommand(store: ProcessStore, context: RunContext): Promise<AttachedCommand> {
  const { connection, claimed } = context;
  const { process, runStart } = await (claimed.process === null
    ? begin(store, context)
    : adopt(store, context, claimed.process.processId));
  const output = await connection.attach(process.processId, { fromOffset: process.outOffset, epoch: process.epoch });
  return { process, output, runStart };
}

async function begin(store: ProcessStore, context: RunContext) {
  const { claimed, connection, fence } = context;
  const process = await store.beginProcess(fence, {
    processId: newId(),
    sandboxId: claimed.sandboxId,
    sessionId: null,
    kind: 'command',
    fingerprint: '',
    tokenHash: null,
    bootId: connection.bootId,
  });
  context.heldProcess = fenceOf(process);
  await start(store, context, process);
  return { process, runStart: 0 };
}

async function adopt(store: ProcessStore, context: RunContext, processId: string) {
  const { process, startOffset } = await store.adoptProcess(context.fence, processId);
  context.heldProcess = fenceOf(process);
  const info = await infoOf(context, processId);
  if (info?.state === 'running' && process.state === 'starting') {
    // Whoever started it did not live to say so.
    await store.processLive(fenceOf(process), factsOf(context, info));
  }
  if (info === undefined) {
    // Registered but not started: it still can be, since a supervisor starts an id once, over restarts too (R8).
    if (process.state !== 'starting') throw new DeadProcessError();
    await start(store, context, process);
  }
  return { process, runStart: startOffset };
}

async function start(store: ProcessStore, context: RunContext, process: ProcessRecord): Promise<void> {
  const { connection } = context;
  const { run } = context.claimed;
  const info = await connection.start({
    processId: process.processId,
    argv: commandArgv(run),
    cwd: commandDirectory(run),
    env: commandEnvironment(run),
    stdin: run.options['stdin'] === 'pipe' ? 'pipe' : 'null',
    epoch: process.epoch,
  });
  await store.processLive(fenceOf(process), { pid: info.pid, bootId: connection.bootId });
}

const fenceOf = ({ processId, epoch }: ProcessRecord): ProcessFence => ({ processId, processEpoch: epoch });

const factsOf = ({ connection }: RunContext, { pid, bootId }: ProcessInfo) => ({
  pid,
  bootId: bootId ?? connection.bootId,
});

async function infoOf({ connection }: RunContext, processId: string): Promise<ProcessInfo | undefined> {
  try {
    return await connection.info(processId);
  } catch (error) {
    if (isAppError(error) && error.code === 'sandbox.process_not_found') return undefined;
    throw error;
  }
}

/** The process was running in a sandbox whose data is gone; nobody knows how it ended. */
export class DeadProcessError extends Error {
  override readonly name = 'DeadProcessError';
}
