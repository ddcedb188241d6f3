// Rows of `run`, `process` and `session` as the domain's records.
import type { ProcessRecord, RunRecord, SessionRecord } from '#domain';
import type { ProcessKind, ProcessState, RunKind, RunStatus, SessionStatus, WaitReason } from '#kernel';
import type { Process, Run, Session } from '../generated/client.js';

const json = (value: unknown): Record<string, unknown> => (value ?? {}) as Record<string, unknown>;

export function toRun(row: Run): RunRecord {
  return {
    runId: row.id,
    projectId: row.projectId,
    hostId: row.hostId,
    sessionId: row.sessionId,
    lane: row.lane,
    kind: row.kind as RunKind,
    status: row.status as RunStatus,
    position: Number(row.position),
    dispatchNo: row.dispatchNo,
    epoch: Number(row.epoch),
    processId: row.processId,
    startOffset: Number(row.startOffset),
    endOffset: row.endOffset === null ? null : Number(row.endOffset),
    prompt: row.prompt,
    options: json(row.options),
    argv: row.argv,
    shellCommand: row.shellCommand,
    commandId: row.commandId,
    workingDir: row.workingDir,
    timeoutMs: row.timeoutMs,
    correlationId: row.correlationId,
    createdBy: row.createdBy,
    queuedAt: row.queuedAt,
    dispatchedAt: row.dispatchedAt,
    startedAt: row.startedAt,
    waitingSince: row.waitingSince,
    waitReason: row.waitReason as WaitReason | null,
    resumeAt: row.resumeAt,
    parkedAt: row.parkedAt,
    pausedAt: row.pausedAt,
    attempts: row.attempts,
    finishedAt: row.finishedAt,
    activeMs: row.activeMs,
    durationMs: row.durationMs,
    exitCode: row.exitCode,
    exitSignal: row.exitSignal,
    errorCode: row.errorCode,
    errorMessage: row.errorMessage,
    resultText: row.resultText,
    usage: row.usage === null ? null : json(row.usage),
    costUsd: row.costUsd === null ? null : Number(row.costUsd),
    outputBytes: Number(row.outputBytes),
    outputCut:
      row.outputCutFrom === null || row.outputCutTo === null
        ? null
        : { from: Number(row.outputCutFrom), to: Number(row.outputCutTo) },
    outputExpiredAt: row.outputExpiredAt,
  };
}

export function toProcess(row: Process): ProcessRecord {
  return {
    processId: row.id,
    projectId: row.projectId,
    sandboxId: row.sandboxId,
    sessionId: row.sessionId,
    kind: row.kind as ProcessKind,
    state: row.state as ProcessState,
    fingerprint: row.fingerprint,
    bootId: row.bootId,
    epoch: Number(row.epoch),
    outOffset: Number(row.outOffset),
    costUsd: Number(row.costUsd),
    startedAt: row.startedAt,
    lastUsedAt: row.lastUsedAt,
  };
}

export function toSession(row: Session): SessionRecord {
  return {
    sessionId: row.id,
    projectId: row.projectId,
    agent: row.agent,
    agentSessionId: row.agentSessionId,
    title: row.title,
    titleByUser: row.titleByUser,
    model: row.model,
    permissionMode: row.permissionMode,
    status: row.status as SessionStatus,
    createdBy: row.createdBy,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    lastRunAt: row.lastRunAt,
    archivedAt: row.archivedAt,
    costUsd: Number(row.costUsd),
  };
}
