// Beginning a turn again inside its run, so that order holds: when the model was overloaded and no tool had run, and when an account's
// usage limit is over. The number of the attempt and its wait are in the run's row, so that a successor goes on with them.
import { createHash } from 'node:crypto';
import type { ExecutionStore, RunOutcome, RunRecord } from '#domain';
import { endingReason } from '../runs/process-stopper.js';
import { DetachedError, type RunContext } from '../runs/run-driver.port.js';
import { interruptedOutcome, stoppedOutcome } from '../runs/run-outcomes.js';
import { pause } from '../timing/pause.js';
import type { AgentRetry } from './agent-driver.port.js';

export interface AttemptRules {
  /** How often a turn is begun again because the model was overloaded. */
  most: number;
  /** Wait before the first time, ms; doubled with each. */
  firstMs: number;
}

export interface AttemptParts {
  executions: Pick<ExecutionStore, 'beginAttempt' | 'continueAttempt'>;
  attempts: AttemptRules;
}

/** The outcome of one attempt. */
export type AttemptOutcome = RunOutcome & { again?: AgentRetry };

/** What the agent is told instead of its prompt, which it has in its conversation. */
const GO_ON = 'The model could not be reached. Go on from where you left off: answer my last message.';

const MAX_WAIT_MS = 60_000;
/** One sleep; longer ones are cut into these. */
const SLEEP_MS = 60 * 60_000;

/** Each attempt has a prompt of its own: an agent takes one id only once. */
export function promptIdOf({ runId, attempts }: Pick<RunRecord, 'runId' | 'attempts'>): string {
  if (attempts <= 1) return runId;
  const hex = createHash('sha256').update(`${runId}/${attempts}`).digest('hex');
  // The bits that make it a UUID of a form of our own (version 8, RFC 9562).
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** A conversation that the agent has written down holds the prompt already. */
export function promptTextOf({ run, session }: RunContext['claimed']): string {
  const isKnown = run.attempts > 1 && session !== null && session.agentSessionId !== null;
  return isKnown ? GO_ON : (run.prompt ?? '');
}

/** Doubled each time, with up to half of it more, so that runs that failed together do not come back together. */
export function backOffMs({ firstMs }: AttemptRules, attempt: number, random: () => number = Math.random): number {
  const base = Math.min(MAX_WAIT_MS, firstMs * 2 ** (attempt - 1));
  return Math.round(base * (1 + random() / 2));
}

/** Whether the turn is begun again; then the context is that of the next attempt, which is not due yet. */
export async function beginAgain(
  parts: AttemptParts,
  context: RunContext,
  { again, ...outcome }: AttemptOutcome,
): Promise<boolean> {
  const { run, project } = context.claimed;
  const { lastOutput, error, costUsd = 0 } = outcome;
  if (again === undefined || lastOutput === undefined || error === undefined || context.stop.aborted) return false;
  const limited = again.kind === 'usage_limit';
  if (limited && project.settings.onUsageLimit === 'fail') return false;
  if (!limited && run.attempts > parts.attempts.most) return false;
  const backOff = new Date(Date.now() + backOffMs(parts.attempts, run.attempts));
  const resumeAt = limited && again.resetAt > backOff ? again.resetAt : backOff;
  const begun = await context.announce(
    await parts.executions.beginAttempt(context.fence, {
      output: lastOutput,
      costUsd,
      error: { code: error.code, message: error.message },
      resumeAt,
      ...(limited ? { waitReason: 'usage_limit' as const } : {}),
      // A turn that a limit cut off in the middle goes on from there; nothing of it is done again.
      evenAfterTools: limited,
    }),
  );
  if (begun === undefined) return false;
  context.logger.info({ attempt: begun.run.attempts, why: again.kind, resume_at: resumeAt }, 'a turn is begun again');
  context.claimed = { ...context.claimed, ...begun, warmProcess: null };
  return true;
}

/** Waits until the attempt is due; an outcome is how the run ended instead. Throws DetachedError. */
export async function untilDue(parts: AttemptParts, context: RunContext): Promise<RunOutcome | undefined> {
  const { resumeAt, status } = context.claimed.run;
  if (resumeAt === null) return undefined;
  const limited = status === 'waiting';
  if (limited) {
    context.activeTime.suspend('limit');
    context.releaseSlot();
  }
  const interrupted = await sleepUntil(resumeAt, context);
  if (limited && !interrupted) await context.takeSlot();
  if (context.detached.aborted) throw new DetachedError();
  const activeMs = context.activeTime.elapsedMs();
  const reason = endingReason(context);
  if (reason !== undefined) {
    return { ...stoppedOutcome(reason, context.claimed.run, activeMs), sessionStatus: 'paused' };
  }
  if (interrupted) return { ...interruptedOutcome(activeMs), sessionStatus: 'paused' };
  const run = await context.announce(await parts.executions.continueAttempt(context.fence));
  context.claimed = { ...context.claimed, run };
  if (limited) context.activeTime.resume('limit');
  return undefined;
}

/** True when it was interrupted. */
async function sleepUntil(resumeAt: Date, context: RunContext): Promise<boolean> {
  const interrupted = new AbortController();
  const over = AbortSignal.any([interrupted.signal, context.stop, context.detached]);
  context.live = {
    endsOnInterrupt: true,
    interrupt: async () => interrupted.abort(),
  };
  try {
    for (let left = leftOf(resumeAt); left > 0 && !over.aborted; left = leftOf(resumeAt)) {
      await pause(Math.min(left, SLEEP_MS), over);
    }
  } finally {
    delete context.live;
  }
  return interrupted.signal.aborted;
}

const leftOf = (resumeAt: Date): number => resumeAt.getTime() - Date.now();
