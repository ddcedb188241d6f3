// A question of an agent in Postgres: bound to its tool use, answered by the project's rules where they say so, else open until a
// person answers or its time is up.
import {
  decideByPolicy,
  type NewPermissionRequest,
  type PermissionAnswer,
  type PermissionRecord,
  type RunRecord,
} from '#domain';
import type { Database } from '../database.js';
import type { ProjectUnit } from '../events/project-unit.js';
import { toSettings } from '../projects/project-settings.js';
import { moveRun } from '../runs/move-run.js';
import { permissionClosed, permissionRequested } from '../runs/run-events.js';
import { storable, storableList, storableText } from '../storable.js';
import { toPermission } from './permission-rows.js';

/** What the project says to a new question at this moment. */
export interface Ruling {
  /** Undefined: a person is asked. */
  answer: PermissionAnswer | undefined;
  /** For how long; without end when undefined. */
  timeoutMs: number | undefined;
}

/** Read apart from the unit of work, so that searching a long input holds up nobody. */
export async function ruleOn(db: Database, request: NewPermissionRequest, projectId: string): Promise<Ruling> {
  const row = await db.run((client) =>
    client.project.findUnique({ where: { id: projectId }, select: { settings: true } }),
  );
  const settings = toSettings(row?.settings);
  return {
    answer: decideByPolicy(settings.permissionPolicy, request),
    timeoutMs: settings.permissionTimeoutMs,
  };
}

export async function openQuestion(
  unit: ProjectUnit,
  run: RunRecord,
  request: NewPermissionRequest,
  ruling: Ruling,
): Promise<PermissionRecord> {
  const { processId, toolUseId } = request;
  const known = await unit.tx.permissionRequest.findUnique({
    where: { processId_toolUseId: { processId, toolUseId } },
  });
  const record = await toPermission(unit.tx, known ?? (await insert(unit, run, request, ruling)));
  if (known === null) unit.append([permissionRequested({ ...record, status: 'open' })]);
  if (record.status !== 'open') {
    if (known === null) unit.append([permissionClosed(record, 'answered')]);
    return record;
  }
  if (run.status === 'running') {
    await moveRun(unit.tx, run, 'waiting', { waitingSince: new Date(), waitReason: 'permission' });
    unit.queueChanged();
  }
  return record;
}

async function insert(unit: ProjectUnit, run: RunRecord, request: NewPermissionRequest, ruling: Ruling) {
  const { answer, timeoutMs } = ruling;
  const now = new Date();
  return unit.tx.permissionRequest.create({
    data: {
      id: request.requestId,
      projectId: run.projectId,
      sessionId: run.sessionId ?? run.runId,
      runId: run.runId,
      processId: request.processId,
      toolUseId: request.toolUseId,
      toolName: storableText(request.toolName),
      input: storable(request.input),
      inputHash: request.inputHash,
      suggestions: storableList(request.suggestions),
      createdAt: now,
      ...(answer === undefined
        ? { expiresAt: timeoutMs === undefined ? null : new Date(now.getTime() + timeoutMs) }
        : { status: 'answered', answer: storable({ ...answer }), answeredVia: 'policy', closedAt: now }),
    },
  });
}

/** The last question of a parked run may have been closed: then it takes its lane back, as soon as that is free. */
export async function questionClosed(unit: ProjectUnit, run: { status: string }): Promise<void> {
  if (run.status === 'parked' && (await unit.promote())) unit.refreshState();
}
