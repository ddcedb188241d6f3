// Questions in Postgres: the first answer wins (R15).
import type { Committed, PermissionAnswer, PermissionRecord, PermissionStore } from '#domain';
import { AppError, newId } from '#kernel';
import type { Database } from '../database.js';
import { inProject, type ProjectUnit } from '../events/project-unit.js';
import { permissionClosed } from '../runs/run-events.js';
import { storable } from '../storable.js';
import { questionClosed } from './open-question.js';
import { toPermission } from './permission-rows.js';

export class PgPermissionStore implements PermissionStore {
  constructor(private readonly db: Database) {}

  async find(requestId: string): Promise<PermissionRecord | undefined> {
    return this.db.run(async (client) => {
      const row = await client.permissionRequest.findUnique({ where: { id: requestId } });
      return row === null ? undefined : toPermission(client, row);
    });
  }

  async openOf(projectId: string): Promise<PermissionRecord[]> {
    return this.db.run(async (client) => {
      const rows = await client.permissionRequest.findMany({
        where: { projectId, status: 'open' },
        orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      });
      return Promise.all(rows.map((row) => toPermission(client, row)));
    });
  }

  async answer(
    requestId: string,
    answer: PermissionAnswer & { inputHash: string; userId: string },
  ): Promise<Committed<{ record: PermissionRecord; first: boolean }>> {
    const request = await this.find(requestId);
    if (request === undefined) throw new AppError('permission.not_found', 'There is no such question.');
    return inProject(this.db, request.projectId, async (unit) => {
      const row = await unit.tx.permissionRequest.findUniqueOrThrow({ where: { id: requestId } });
      if (row.status === 'answered') return { record: await toPermission(unit.tx, row), first: false };
      if (row.status !== 'open') {
        throw new AppError('permission.closed', 'The question was closed before it was answered.', {
          details: { status: row.status },
        });
      }
      if (row.inputHash !== answer.inputHash) {
        throw new AppError(
          'permission.input_mismatch',
          'The answer belongs to another input than the one asked about.',
        );
      }
      return { record: await storeAnswer(unit, requestId, answer), first: true };
    });
  }
}

async function storeAnswer(
  unit: ProjectUnit,
  requestId: string,
  answer: PermissionAnswer & { userId: string },
): Promise<PermissionRecord> {
  const { behavior, updatedInput, message, suggestions, userId } = answer;
  const row = await unit.tx.permissionRequest.update({
    where: { id: requestId },
    data: {
      status: 'answered',
      answer: storable({ behavior, updatedInput, message, suggestions }),
      answeredBy: userId,
      answeredVia: 'person',
      closedAt: new Date(),
    },
  });
  const record = await toPermission(unit.tx, row);
  const run = await unit.tx.run.findUniqueOrThrow({ where: { id: row.runId }, select: { hostId: true, status: true } });
  await unit.tx.intent.create({
    data: {
      id: newId(),
      hostId: run.hostId,
      projectId: row.projectId,
      runId: row.runId,
      kind: 'answer',
      payload: { request_id: requestId },
      createdBy: userId,
    },
  });
  unit.wakeHostIds.add(run.hostId);
  unit.append([permissionClosed(record, 'answered')]);
  await questionClosed(unit, run);
  return record;
}
