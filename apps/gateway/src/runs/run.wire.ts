// Runs, queues and conversations as clients see them.
import {
  type QueuedActiveRun,
  type QueuedRun,
  type QueueLaneRecord,
  type QueueSnapshotRecord,
  type RunRecord,
  runTitle,
  type SessionRecord,
} from '#domain';
import { PERMISSION_MODES, type PermissionMode, type Role } from '#kernel';
import type { QueueLane, QueueSnapshot, RunInfo, SessionInfo } from '#protocol';
import { COMMAND_SESSION_PREFIX } from '../transport/access.js';

const isoOf = (date: Date): string => date.toISOString();

export const commandSessionId = (runId: string): string => `${COMMAND_SESSION_PREFIX}${runId}`;

/** What a command runs, in one line for people: the shell string, or its arguments. */
export const shellCommandOf = (run: Pick<RunRecord, 'shellCommand' | 'argv'>): string =>
  run.shellCommand ?? run.argv.join(' ');

export function toRunInfo({ run, position }: QueuedRun): RunInfo {
  return {
    run_id: run.runId,
    project_id: run.projectId,
    ...(run.sessionId === null ? {} : { session_id: run.sessionId }),
    lane: run.lane,
    kind: run.kind,
    status: run.status,
    title: runTitle(run),
    ...(position === undefined ? {} : { position }),
    queued_at: isoOf(run.queuedAt),
    ...(run.startedAt === null ? {} : { started_at: isoOf(run.startedAt) }),
    ...(run.finishedAt === null ? {} : { finished_at: isoOf(run.finishedAt) }),
    ...waitOf(run),
    ...outcomeOf(run),
    timeout_ms: run.timeoutMs,
    created_by: run.createdBy,
  };
}

const waitOf = (run: RunRecord): Partial<RunInfo> => ({
  ...(run.waitingSince === null ? {} : { waiting_since: isoOf(run.waitingSince) }),
  ...(run.waitReason === null ? {} : { wait_reason: run.waitReason }),
  ...(run.resumeAt === null ? {} : { resume_at: isoOf(run.resumeAt) }),
  ...(run.parkedAt === null ? {} : { parked_since: isoOf(run.parkedAt) }),
  ...(run.pausedAt === null ? {} : { paused_since: isoOf(run.pausedAt) }),
  ...(run.attempts > 1 ? { attempts: run.attempts } : {}),
});

const outcomeOf = (run: RunRecord): Partial<RunInfo> => ({
  ...(run.durationMs === null ? {} : { duration_ms: run.durationMs }),
  ...(run.exitCode === null ? {} : { exit_code: run.exitCode }),
  ...(run.exitSignal === null ? {} : { exit_signal: run.exitSignal }),
  ...(run.errorCode === null ? {} : { error: { code: run.errorCode, message: run.errorMessage ?? '' } }),
  ...(run.costUsd === null ? {} : { cost_usd: run.costUsd }),
  ...(run.usage === null ? {} : { usage: run.usage }),
  ...(run.kind === 'command' ? { output_bytes: run.outputBytes } : {}),
  ...(run.outputCut === null && run.outputExpiredAt === null ? {} : { output_truncated: true }),
});

export const toQueueSnapshot = (queue: QueueSnapshotRecord): QueueSnapshot => ({
  project_id: queue.projectId,
  revision: queue.revision,
  lanes: queue.lanes.map(toQueueLane),
});

export const toQueueLane = ({ lane, activeRunId, active, parked, paused, ...rest }: QueueLaneRecord): QueueLane => ({
  lane,
  ...(activeRunId === undefined ? {} : { active_run_id: activeRunId }),
  ...(active === undefined ? {} : { active: toActiveRun(active) }),
  ...(parked === undefined ? {} : { parked: parked.map(toActiveRun) }),
  ...(paused === undefined ? {} : { paused: { since: isoOf(paused.since), by: paused.by } }),
  queued: rest.queued.map(({ runId, ...run }) => ({ run_id: runId, ...run })),
  queued_count: rest.queuedCount,
});

/** Roles that may answer a question of the agent (client event permission_respond). */
const ANSWERING_ROLES: readonly Role[] = ['owner', 'editor'];

const toActiveRun = (run: QueuedActiveRun): NonNullable<QueueLane['active']> => ({
  run_id: run.runId,
  kind: run.kind,
  status: run.status,
  title: run.title,
  ...(run.startedAt === undefined ? {} : { started_at: isoOf(run.startedAt) }),
  ...(run.waitingSince === undefined ? {} : { waiting_since: isoOf(run.waitingSince) }),
  ...(run.waitReason === undefined ? {} : { wait_reason: run.waitReason }),
  ...(run.waitReason === 'permission' ? { answerable_by: [...ANSWERING_ROLES] } : {}),
  ...(run.resumeAt === undefined ? {} : { resume_at: isoOf(run.resumeAt) }),
});

const isPermissionMode = (mode: string | null): mode is PermissionMode =>
  (PERMISSION_MODES as readonly (string | null)[]).includes(mode);

export const toSessionInfo = (session: SessionRecord): SessionInfo => ({
  session_id: session.sessionId,
  project_id: session.projectId,
  agent: session.agent,
  ...(session.title === null ? {} : { title: session.title }),
  ...(session.model === null ? {} : { model: session.model }),
  ...(isPermissionMode(session.permissionMode) ? { permission_mode: session.permissionMode } : {}),
  status: session.status,
  created_at: isoOf(session.createdAt),
  updated_at: isoOf(session.updatedAt),
  ...(session.lastRunAt === null ? {} : { last_run_at: isoOf(session.lastRunAt) }),
  cost_usd: session.costUsd,
});
