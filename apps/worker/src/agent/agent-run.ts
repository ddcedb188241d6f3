// One run of an agent: what it wants, the process that serves it, and its end.
import type { RunOutcome } from '#domain';
import { endingReason } from '../runs/process-stopper.js';
import type { RunContext } from '../runs/run-driver.port.js';
import { stoppedOutcome } from '../runs/run-outcomes.js';
import { type AttemptOutcome, beginAgain, untilDue } from './agent-attempts.js';
import { PromptNotTakenError } from './agent-conclusion.js';
import type { AgentPlan } from './agent-driver.port.js';
import { RunAgentHost } from './agent-host.js';
import { deadOutcome } from './agent-outcome.js';
import { attachAgain, attachAgent, launchAgent, LostAgentError } from './agent-process.js';
import type { AgentRunParts } from './agent-run.parts.js';
import { FollowedAgent } from './followed-agent.js';

const DEFAULT_CWD = '/workspace';

export async function runAgent(parts: AgentRunParts, context: RunContext): Promise<RunOutcome> {
  const plan = planOf(parts, context);
  for (;;) {
    const isAgain = context.claimed.run.resumeAt !== null;
    const ended = await untilDue(parts, context);
    if (ended !== undefined) return ended;
    const spentUsd = context.claimed.run.costUsd ?? 0;
    const outcome = await answer(parts, context, { plan, attach: isAgain ? attachAgain : attachAgent });
    if (await beginAgain(parts, context, outcome)) continue;
    const { again: _again, ...end } = outcome;
    return end.costUsd === undefined && spentUsd === 0 ? end : { ...end, costUsd: spentUsd + (end.costUsd ?? 0) };
  }
}

interface Answering {
  plan: AgentPlan;
  attach: typeof attachAgent;
}

async function answer(parts: AgentRunParts, context: RunContext, { plan, attach }: Answering): Promise<AttemptOutcome> {
  try {
    return await followAgent(parts, context, plan, attach);
  } catch (error) {
    if (error instanceof LostAgentError) return lostOutcome(context);
    if (!(error instanceof PromptNotTakenError)) throw error;
    await writeOff(parts, context, error);
    return followAgent(parts, context, plan, launchAgent);
  }
}

async function followAgent(
  parts: AgentRunParts,
  context: RunContext,
  plan: AgentPlan,
  attach: typeof attachAgent,
): Promise<AttemptOutcome> {
  const host = new RunAgentHost(context.connection);
  try {
    const attached = await attach({ parts, context, plan, host });
    return await new FollowedAgent({ ...parts, context, plan, host, attached }).follow();
  } finally {
    host.close();
  }
}

/** Its output is read and committed, and no run will look at it again. */
async function writeOff(
  { executions }: AgentRunParts,
  { connection, lease, logger }: RunContext,
  { process, exit }: PromptNotTakenError,
): Promise<void> {
  const { processId, epoch } = process;
  const facts = { state: 'exited' as const, exitCode: exit.code, exitSignal: exit.signal };
  logger.info({ process_id: processId, exit_code: exit.code }, 'a warm agent ended before it took the prompt');
  await executions.processEnded(processId, facts, { processEpoch: epoch, lease });
  await connection.forget(processId, { epoch });
}

function lostOutcome(context: RunContext): RunOutcome {
  const activeMs = context.activeTime.elapsedMs();
  const reason = endingReason(context);
  if (reason !== undefined) return stoppedOutcome(reason, context.claimed.run, activeMs);
  const exit = { code: null, signal: null, outOfMemory: false, lost: true as const };
  return deadOutcome({ exit, stderr: '', halfLine: false, activeMs });
}

function planOf(parts: AgentRunParts, { claimed }: RunContext): AgentPlan {
  const { run, session, project } = claimed;
  return parts.agent.plan({
    run: run.options,
    session: { model: session?.model ?? null, permissionMode: session?.permissionMode ?? null },
    project: project.options,
    cwd: run.workingDir ?? DEFAULT_CWD,
  });
}
