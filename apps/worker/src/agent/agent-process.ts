// Finds or starts the process of an agent's run: the warm one of its conversation, its own after a change of workers, or a new
// one that goes on with the conversation (R7). A prompt is never given to two processes.
import { randomBytes } from 'node:crypto';
import type { ProcessFence, ProcessInfo, ProcessOutput, ProcessRecord } from '#domain';
import { isAppError, newId } from '#kernel';
import type { RunContext } from '../runs/run-driver.port.js';
import { promptIdOf } from './agent-attempts.js';
import type { AgentPlan, AgentSession } from './agent-driver.port.js';
import type { RunAgentHost } from './agent-host.js';
import type { AgentRunParts } from './agent-run.parts.js';
import { sha256 } from './canonical-json.js';

export interface AttachedAgent {
  process: ProcessRecord;
  output: ProcessOutput;
  /** None when the process has ended: its output is read to the end. */
  session: AgentSession | undefined;
  promptSent: boolean;
  /** Lines that end here or before were there when a new session was put over a live process. */
  replayUntil: number;
  /** Keys of what was written to the process before. */
  inputKeys: ReadonlySet<string>;
  /** Whether the session is a new one over a process that lived before. */
  reattached: boolean;
  /** Whether the process was launched for another run, so that it must be told what this one wants. */
  needsSettings: boolean;
  /** Masked in what is shown of it; unknown for a process that another worker started. */
  token: string | undefined;
}

/** The process went with its container and left nothing to read. */
export class LostAgentError extends Error {
  override readonly name = 'LostAgentError';
}

export interface Attaching {
  parts: AgentRunParts;
  context: RunContext;
  plan: AgentPlan;
  host: RunAgentHost;
}

/** Only the newest keys of a process's input are kept by the sandbox. */
const KEYS_KEPT = 1_000;

export async function attachAgent(attaching: Attaching): Promise<AttachedAgent> {
  const { process, warmProcess } = attaching.context.claimed;
  if (process !== null) return adoptOwn(attaching, process);
  if (warmProcess !== null) {
    const warm = await useWarm(attaching, warmProcess);
    if (warm !== undefined) return warm;
  }
  return launchAgent(attaching);
}

/** A turn that is begun again goes to the process that it was given to before, if that still serves, else to another. */
export async function attachAgain(attaching: Attaching): Promise<AttachedAgent> {
  const { process } = attaching.context.claimed;
  const warm = process === null ? undefined : await useWarm(attaching, process);
  return warm ?? launchAgent(attaching);
}

/** The run had begun under an earlier attachment. */
async function adoptOwn(attaching: Attaching, recorded: ProcessRecord): Promise<AttachedAgent> {
  const { parts, context } = attaching;
  const { processId } = recorded;
  (await parts.warm.reserve(processId))?.close();
  const info = await infoOf(context, processId);
  if (info === undefined) {
    // Registered in this boot and never started. Its token is lost with the worker that made it, so another takes its place.
    const unborn = recorded.state === 'starting' && recorded.bootId === context.connection.bootId;
    const guard = { processEpoch: recorded.epoch, lease: context.lease };
    await parts.executions.processEnded(processId, { state: 'lost' }, guard);
    if (!unborn) throw new LostAgentError();
    return launchAgent(attaching);
  }
  const { process, startOffset } = await parts.executions.adoptProcess(context.fence, processId);
  context.heldProcess = fenceOf(process);
  const inputKeys = new Set(info.inputKeys);
  const key = parts.agent.promptKey(promptIdOf(context.claimed.run));
  // With so much input in between, the oldest keys are forgotten; output of this run shows that it has begun.
  const forgotten = info.inputKeys.length >= KEYS_KEPT && process.outOffset > startOffset;
  return attachLive(attaching, process, info, { promptSent: inputKeys.has(key) || forgotten });
}

/** Undefined when another process must be started; the warm one has ended then. */
async function useWarm(attaching: Attaching, recorded: ProcessRecord): Promise<AttachedAgent | undefined> {
  const { parts, context, plan } = attaching;
  const session = await parts.warm.reserve(recorded.processId);
  const info = await infoOf(context, recorded.processId);
  if (info?.state !== 'running' || recorded.fingerprint !== plan.fingerprint || !plan.reusable) {
    session?.close();
    await parts.warm.retire(context.connection, recorded, context.lease);
    parts.warm.release(recorded.processId);
    return undefined;
  }
  const { process } = await parts.executions.adoptProcess(context.fence, recorded.processId);
  context.heldProcess = fenceOf(process);
  if (session === undefined) return attachLive(attaching, process, info, { promptSent: false });
  session.serve(attaching.host);
  attaching.host.processStarted(process);
  return { ...(await attached(context, process)), session, promptSent: false, needsSettings: true };
}

/** A new session over a process that another worker, or an earlier attachment, has left. */
async function attachLive(
  attaching: Attaching,
  process: ProcessRecord,
  info: ProcessInfo,
  { promptSent }: { promptSent: boolean },
): Promise<AttachedAgent> {
  const { parts, context, plan, host } = attaching;
  if (info.state === 'running' && process.state === 'starting') {
    // Whoever started it did not live to say so; only a live one is found again as warm, or ended when it is idle for too long.
    const bootId = info.bootId ?? context.connection.bootId;
    await parts.executions.processLive(fenceOf(process), { pid: info.pid, bootId });
  }
  host.processStarted(process);
  const session = info.state === 'running' ? await parts.agent.open(plan, host, { kind: 'attach' }) : undefined;
  return {
    ...(await attached(context, process)),
    session,
    promptSent,
    needsSettings: !promptSent,
    reattached: true,
    replayUntil: info.headOffset,
    inputKeys: new Set(info.inputKeys),
  };
}

/** A new process, which goes on with the conversation if there is one. */
export async function launchAgent(attaching: Attaching): Promise<AttachedAgent> {
  const { parts, context, plan, host } = attaching;
  const { claimed, connection, fence } = context;
  const token = randomBytes(32).toString('hex');
  const process = await parts.executions.beginProcess(fence, {
    processId: newId(),
    sandboxId: claimed.sandboxId,
    sessionId: claimed.run.sessionId,
    kind: 'agent',
    fingerprint: plan.fingerprint,
    tokenHash: sha256(token),
    bootId: connection.bootId,
  });
  context.heldProcess = fenceOf(process);
  const resume = claimed.session?.agentSessionId ?? null;
  const session = await parts.agent.open(plan, host, { kind: 'launch', token, resume });
  try {
    // A session that cannot make up its command line never gets ready either, and says why.
    const { argv, env } = await Promise.race([host.command, session.ready.then(() => host.command)]);
    const { processId, epoch } = process;
    const info = await connection.start({ processId, argv, env, cwd: plan.cwd, stdin: 'pipe', epoch });
    await parts.executions.processLive(fenceOf(process), { pid: info.pid, bootId: connection.bootId });
    host.processStarted(process);
    return { ...(await attached(context, process)), session, promptSent: false, needsSettings: false, token };
  } catch (error) {
    session.close();
    throw error;
  }
}

const fenceOf = ({ processId, epoch }: ProcessRecord): ProcessFence => ({ processId, processEpoch: epoch });

type Bare = Pick<AttachedAgent, 'process' | 'output' | 'replayUntil' | 'inputKeys' | 'reattached' | 'token'>;

async function attached({ connection }: RunContext, process: ProcessRecord): Promise<Bare> {
  const { processId, epoch, outOffset } = process;
  const output = await connection.attach(processId, { fromOffset: outOffset, epoch });
  // Closing the output ends its iteration; `ended` then stays pending, or says nothing that the iteration does not.
  output.ended.catch(() => undefined);
  return { process, output, replayUntil: 0, inputKeys: new Set(), reattached: false, token: undefined };
}

async function infoOf({ connection }: RunContext, processId: string): Promise<ProcessInfo | undefined> {
  try {
    return await connection.info(processId);
  } catch (error) {
    if (isAppError(error) && error.code === 'sandbox.process_not_found') return undefined;
    throw error;
  }
}
