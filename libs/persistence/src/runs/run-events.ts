// The payloads of a run's events, as clients read them (shapes in libs/protocol event-payloads).
import { runTitle, type EventDraft, type PermissionRecord, type RunOutcome, type RunRecord } from '#domain';

const about = (run: RunRecord): { runId: string; sessionId?: string } => ({
  runId: run.runId,
  ...(run.sessionId === null ? {} : { sessionId: run.sessionId }),
});

export const runQueued = (run: RunRecord): EventDraft => ({
  type: 'run.queued',
  ...about(run),
  payload: { kind: run.kind, lane: run.lane, title: runTitle(run), user_id: run.createdBy },
});

export const userMessage = (run: RunRecord, userName: string): EventDraft => ({
  type: 'message.user',
  ...about(run),
  payload: { text: run.prompt ?? '', user_id: run.createdBy, user_name: userName },
});

export const runStarted = (run: RunRecord, resumed: boolean): EventDraft => ({
  type: 'run.started',
  ...about(run),
  payload: { kind: run.kind, dispatch_no: run.dispatchNo, resumed },
});

/** What changed about a run that is not over; only the fields that did. */
export const runUpdated = (run: RunRecord, changes: Record<string, unknown>): EventDraft => ({
  type: 'run.updated',
  ...about(run),
  payload: changes,
});

export const commandStarted = (run: RunRecord): EventDraft => ({
  type: 'command.started',
  ...about(run),
  payload: {
    shell_command: run.shellCommand ?? run.argv.join(' '),
    working_directory: run.workingDir ?? '/workspace',
    user_id: run.createdBy,
  },
});

/** run.finished, or run.cancelled for a run that never began. */
export function runFinished(
  run: RunRecord,
  outcome: Pick<RunOutcome, 'status' | 'exitCode' | 'exitSignal' | 'error' | 'costUsd'>,
  durationMs: number | undefined,
): EventDraft {
  return {
    type: run.startedAt === null && outcome.status === 'cancelled' ? 'run.cancelled' : 'run.finished',
    ...about(run),
    payload: {
      status: outcome.status,
      kind: run.kind,
      ...(durationMs === undefined ? {} : { duration_ms: durationMs }),
      ...(outcome.exitCode === undefined ? {} : { exit_code: outcome.exitCode }),
      ...(outcome.exitSignal === undefined ? {} : { exit_signal: outcome.exitSignal }),
      ...(outcome.error === undefined ? {} : { error: outcome.error }),
      ...(outcome.costUsd === undefined ? {} : { cost_usd: outcome.costUsd }),
    },
  };
}

export const permissionRequested = (request: PermissionRecord): EventDraft => ({
  type: 'permission.requested',
  runId: request.runId,
  sessionId: request.sessionId,
  payload: {
    request_id: request.requestId,
    project_id: request.projectId,
    session_id: request.sessionId,
    run_id: request.runId,
    tool_name: request.toolName,
    tool_use_id: request.toolUseId,
    input: request.input,
    input_hash: request.inputHash,
    suggestions: request.suggestions,
    status: request.status,
    created_at: request.createdAt.toISOString(),
    ...(request.expiresAt === null ? {} : { expires_at: request.expiresAt.toISOString() }),
  },
});

export const permissionClosed = (
  request: PermissionRecord,
  status: 'answered' | 'expired' | 'cancelled' | 'run_ended',
): EventDraft => ({
  type: 'permission.closed',
  runId: request.runId,
  sessionId: request.sessionId,
  payload: {
    request_id: request.requestId,
    status,
    ...(request.answer === null ? {} : { behavior: request.answer.behavior }),
    ...(request.answer?.message === undefined ? {} : { message: request.answer.message }),
    ...(request.answeredBy === null
      ? {}
      : { answered_by: { user_id: request.answeredBy.userId, name: request.answeredBy.name } }),
    ...(request.answeredVia === null ? {} : { answered_via: request.answeredVia }),
  },
});
