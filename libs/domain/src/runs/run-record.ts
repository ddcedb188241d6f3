// A run - one prompt or one command - as the use-cases see it.
import type { RunKind, RunStatus } from '#kernel';

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
}

export interface QueueSnapshotRecord {
  projectId: string;
  revision: number;
  lanes: {
    lane: string;
    activeRunId?: string;
    queued: { runId: string; position: number; kind: RunKind; title: string }[];
  }[];
}

/** First line of what a run does, at most 120 characters. */
export function runTitle(run: Pick<RunRecord, 'kind' | 'prompt' | 'shellCommand' | 'argv'>): string {
  const text = run.kind === 'prompt' ? (run.prompt ?? '') : (run.shellCommand ?? run.argv.join(' '));
  const line = text.trim().split('\n', 1)[0] ?? '';
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}
