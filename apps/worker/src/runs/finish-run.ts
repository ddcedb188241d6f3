// The end of a run: committed with what it promotes, told to everyone, one wide line in the log.
import type { ClaimedRun, RunOutcome, RunRecord } from '#domain';
import { isAppError } from '#kernel';
import { logError, type Logger, logRunLine } from '#observability';
import { pause } from '../timing/pause.js';
import type { AttachmentParts } from './attachment-parts.js';
import type { RunFacts } from './run-facts.js';

export interface FinishRequest {
  claimed: ClaimedRun;
  outcome: RunOutcome;
  facts: RunFacts;
  /** Aborted when this worker lets go. */
  detached: AbortSignal;
}

const RETRY_MS = 250;

/** Undefined when this worker let go first. Throws `write.fenced` when another worker has the run, and nothing once it is committed. */
export async function finishRun(
  parts: AttachmentParts,
  logger: Logger,
  request: FinishRequest,
): Promise<RunRecord | undefined> {
  const run = await commitFinish(parts, logger, request);
  if (run === undefined) return undefined;
  const { outcome, facts } = request;
  if (run.kind === 'command') {
    const output = { projectId: run.projectId, runId: run.runId, headOffset: run.endOffset ?? 0, ended: true };
    parts.bus.publish(run.projectId, { kind: 'output', output });
  }
  logRunLine(parts.logger, facts.lineOf(run, outcome.status, parts.lease));
  if (facts.queueWaitMs !== null && !facts.resumed) parts.metrics.observeRunWait(run.kind, facts.queueWaitMs / 1_000);
  parts.metrics.observeRunDuration(run.kind, outcome.status, run.activeMs / 1_000);
  return run;
}

/** Tries again while Postgres is away: the outcome stands, only its record is missing. Undefined when let go meanwhile. */
async function commitFinish(
  parts: AttachmentParts,
  logger: Logger,
  { claimed, outcome, detached }: FinishRequest,
): Promise<RunRecord | undefined> {
  const fence = { runId: claimed.run.runId, runEpoch: claimed.run.epoch };
  while (!detached.aborted) {
    try {
      const { result, announcement } = await parts.executions.finish(fence, outcome);
      await parts.announcer.announce(announcement);
      parts.metrics.eventsCommitted(announcement.events.length);
      return result;
    } catch (error) {
      if (!isAppError(error) || !error.retryable) throw error;
      logError(logger, error, { doing: 'finish', again_in_ms: RETRY_MS });
      await pause(RETRY_MS, detached);
    }
  }
  return undefined;
}
