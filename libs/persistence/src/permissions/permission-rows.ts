// Rows of `permission_request` as records, with the name of who answered.
import type { PermissionAnswer, PermissionRecord } from '#domain';
import type { AnswerSource, PermissionStatus } from '#kernel';
import type { Tx } from '../database.js';
import type { PermissionRequest } from '../generated/client.js';

export async function toPermission(tx: Tx, row: PermissionRequest): Promise<PermissionRecord> {
  const user =
    row.answeredBy === null
      ? null
      : await tx.user.findUnique({ where: { id: row.answeredBy }, select: { name: true } });
  return {
    requestId: row.id,
    projectId: row.projectId,
    sessionId: row.sessionId,
    runId: row.runId,
    processId: row.processId,
    toolUseId: row.toolUseId,
    toolName: row.toolName,
    input: row.input as Record<string, unknown>,
    inputHash: row.inputHash,
    suggestions: row.suggestions as unknown[],
    status: row.status as PermissionStatus,
    answer: row.answer as PermissionAnswer | null,
    answeredBy: row.answeredBy === null ? null : { userId: row.answeredBy, name: user?.name ?? 'unknown' },
    answeredVia: row.answeredVia as AnswerSource | null,
    expiresAt: row.expiresAt,
    createdAt: row.createdAt,
    closedAt: row.closedAt,
  };
}
