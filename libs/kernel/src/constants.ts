// The shared constant lists. Every other list of statuses, roles or types in the project is derived from these.
export const RUN_STATUSES = [
  'queued',
  'dispatched',
  'running',
  'waiting',
  'parked',
  'paused',
  'succeeded',
  'failed',
  'cancelled',
  'timed_out',
  'interrupted',
] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** The statuses that hold a lane: at most one run of a lane, and of a session, is in one of them (R1, partial unique indexes). */
export const LANE_HOLDING_STATUSES = [
  'dispatched',
  'running',
  'waiting',
  'paused',
] as const satisfies readonly RunStatus[];
/** The statuses of a run that is not over. */
export const UNFINISHED_RUN_STATUSES = [
  'queued',
  ...LANE_HOLDING_STATUSES,
  'parked',
] as const satisfies readonly RunStatus[];
export const FINAL_RUN_STATUSES = [
  'succeeded',
  'failed',
  'cancelled',
  'timed_out',
  'interrupted',
] as const satisfies readonly RunStatus[];
export type FinalRunStatus = (typeof FINAL_RUN_STATUSES)[number];

export const RUN_KINDS = ['prompt', 'command', 'compact'] as const;
export type RunKind = (typeof RUN_KINDS)[number];

/** What a waiting run waits for: an answer of a person, or the end of an account's usage limit. */
export const WAIT_REASONS = ['permission', 'usage_limit'] as const;
export type WaitReason = (typeof WAIT_REASONS)[number];

export const SESSION_STATUSES = [
  'created',
  'starting',
  'running',
  'completed',
  'paused',
  'crashed',
  'failed',
  'archived',
] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

export const PROJECT_STATES = ['IDLE', 'EXECUTING', 'ERROR'] as const;
export type ProjectState = (typeof PROJECT_STATES)[number];

export const PROCESS_STATES = ['starting', 'live', 'exited', 'lost'] as const;
export type ProcessState = (typeof PROCESS_STATES)[number];

export const PROCESS_KINDS = ['agent', 'command'] as const;
export type ProcessKind = (typeof PROCESS_KINDS)[number];

export const PERMISSION_STATUSES = ['open', 'answered', 'expired', 'cancelled', 'run_ended'] as const;
export type PermissionStatus = (typeof PERMISSION_STATUSES)[number];

/** Who closed a question with an answer: a person, the project's rules, or the clock. */
export const ANSWER_SOURCES = ['person', 'policy', 'timeout'] as const;
export type AnswerSource = (typeof ANSWER_SOURCES)[number];

export const INTENT_KINDS = ['cancel', 'interrupt', 'pause', 'resume', 'answer', 'setting', 'stdin'] as const;
export type IntentKind = (typeof INTENT_KINDS)[number];

export const ROLES = ['owner', 'editor', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

export const PERMISSION_MODES = ['acceptEdits', 'bypassPermissions', 'default', 'plan'] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];

export const STREAM_CHANNELS = ['stdout', 'stderr', 'pty'] as const;
export type StreamChannel = (typeof STREAM_CHANNELS)[number];

export const EVENT_TYPES = [
  'message.user',
  'message.assistant',
  'message.tool_result',
  'message.system',
  'message.result',
  'permission.requested',
  'permission.closed',
  'run.queued',
  'run.started',
  'run.updated',
  'run.finished',
  'run.cancelled',
  'command.started',
  'command.finished',
  'session.created',
  'session.reset',
  'session.updated',
  'session.compacted',
  'project.state',
  'project.updated',
  'terminal.opened',
  'terminal.closed',
  'control.changed',
  'file.changed',
  'approval.requested',
  'approval.decided',
  'sandbox.started',
  'sandbox.lost',
  'project.deleted',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** The lane of a project that runs use unless they ask for another. */
export const DEFAULT_LANE = 'main';
