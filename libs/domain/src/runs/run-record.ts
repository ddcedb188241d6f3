// A run - one prompt or one command - as the use-cases see it.
import type { RunKind, RunStatus, WaitReason } from '#kernel';

export interface RunRecord {
  runId: string;
  projectId: string;
  hostId: string;
  sessionId: string | null;
  lane: string;
  kind: RunKind;
  status: RunStatus;
  position: number;
  dispatchNo: number;
  epoch: number;
  processId: string | null;
  startOffset: number;
  endOffset: number | null;
  prompt: string | null;
  options: Record<string, unknown>;
  /** argv of a command; empty when `shellCommand` is run by `sh -c`. */
  argv: string[];
  shellCommand: string | null;
  commandId: string | null;
  /** Absolute path inside the sandbox; null = /workspace. */
  workingDir: string | null;
  timeoutMs: number;
  correlationId: string;
  createdBy: string;
  queuedAt: Date;
  dispatchedAt: Date | null;
  startedAt: Date | null;
  waitingSince: Date | null;
  waitReason: WaitReason | null;
  /** When a wait ends by itself. */
  resumeAt: Date | null;
  /** Since when it has left its lane to others while it waits. */
  parkedAt: Date | null;
  /** Since when a person holds it still. */
  pausedAt: Date | null;
  /** How often its work was begun; retries happen inside the run. */
  attempts: number;
  finishedAt: Date | null;
  activeMs: number;
  durationMs: number | null;
  exitCode: number | null;
  exitSignal: string | null;
  errorCode: string | null;
  errorMessage: string | null;
  resultText: string | null;
  usage: Record<string, unknown> | null;
  costUsd: number | null;
  /** Bytes of output that are stored. */
  outputBytes: number;
  /** Offsets that a cap dropped: from (inclusive) up to (exclusive). */
  outputCut: { from: number; to: number } | null;
  /** When the stored output was deleted by retention. */
  outputExpiredAt: Date | null;
}

export interface QueueSnapshotRecord {
  projectId: string;
  revision: number;
  lanes: {
    lane: string;
    activeRunId?: string;
    /** The run that holds the lane. */
    active?: QueuedActiveRun;
    /** Runs that left the lane to others while they wait for a person. */
    parked?: QueuedActiveRun[];
    paused?: { since: Date; by: string };
    /** The beginning of the queue; `queuedCount` has all of it. */
    queued: { runId: string; position: number; kind: RunKind; title: string }[];
    queuedCount: number;
  }[];
}

/** A run that is at work or waits, as a queue shows it. */
export interface QueuedActiveRun {
  runId: string;
  kind: RunKind;
  status: RunStatus;
  title: string;
  startedAt?: Date;
  waitingSince?: Date;
  waitReason?: WaitReason;
  resumeAt?: Date;
}

/** First line of what a run does, at most 120 characters. */
export function runTitle(run: Pick<RunRecord, 'kind' | 'prompt' | 'shellCommand' | 'argv'>): string {
  const text = run.kind === 'command' ? (run.shellCommand ?? run.argv.join(' ')) : (run.prompt ?? '');
  const line = text.trim().split('\n', 1)[0] ?? '';
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}
