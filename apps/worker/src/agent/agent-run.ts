// One run of an agent: what it wants, the process that serves it, and its end.
import type { RunOutcome } from '#domain';
import { endingReason } from '../runs/process-stopper.js';
import type { RunContext } from '../runs/run-driver.port.js';
import { stoppedOutcome } from '../runs/run-outcomes.js';
import type { AgentPlan } from './agent-driver.port.js';
import { RunAgentHost } from './agent-host.js';
import { deadOutcome } from './agent-outcome.js';
import { attachAgent, LostAgentError } from './agent-process.js';
import type { AgentRunParts } from './agent-run.parts.js';
import { FollowedAgent } from './followed-agent.js';

const DEFAULT_CWD = '/workspace';

export async function runAgent(parts: AgentRunParts, context: RunContext): Promise<RunOutcome> {
  const plan = planOf(parts, context);
  const host = new RunAgentHost(context.connection);
  try {
    const agent = await attachAgent({ parts, context, plan, host });
    return await new FollowedAgent({ ...parts, context, plan, host, attached: agent }).follow();
  } catch (error) {
    if (!(error instanceof LostAgentError)) throw error;
    const activeMs = context.activeTime.elapsedMs();
    const reason = endingReason(context);
    if (reason !== undefined) return stoppedOutcome(reason, context.claimed.run, activeMs);
    const exit = { code: null, signal: null, outOfMemory: false, lost: true as const };
    return deadOutcome({ exit, stderr: '', halfLine: false, activeMs });
  } finally {
    host.close();
  }
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
