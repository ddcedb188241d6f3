// What a unit of work leaves on its project - events with their numbers, the queue's revision, the state - in one statement: a run has
// several units, and each round trip to Postgres is felt in every one of them.
import type { EventDraft, EventRecord } from '#domain';
import { AppError, newId, type ProjectState } from '#kernel';
import type { Tx } from '../database.js';
import { storable } from '../storable.js';

export interface UnitChanges {
  drafts: readonly EventDraft[];
  queueChanged: boolean;
  /** Added to what the project's finished runs have stored. */
  outputBytes: number;
  /** The project's new state; it also counts as activity. */
  state?: ProjectState;
}

export interface WrittenUnit {
  events: EventRecord[];
  queueRevision: number;
}

/** The caller has locked the project's head. Throws `project.not_found`. */
export async function writeUnit(tx: Tx, projectId: string, changes: UnitChanges): Promise<WrittenUnit> {
  const { drafts, queueChanged, outputBytes, state = null } = changes;
  if (drafts.length === 0 && !queueChanged && outputBytes === 0 && state === null)
    return { events: [], queueRevision: 0 };
  const ids = drafts.map(({ eventId }) => eventId ?? newId());
  const rows = drafts.map((draft, index) => ({
    n: index + 1,
    id: ids[index],
    type: draft.type,
    session_id: draft.sessionId ?? null,
    run_id: draft.runId ?? null,
    payload: storable(draft.payload),
    payload_bytes: Buffer.byteLength(JSON.stringify(draft.payload)),
  }));
  const messages = drafts.filter(({ type }) => type.startsWith('message.')).length;
  const [head] = await tx.$queryRaw<{ head_seq: bigint; queue_revision: bigint; now: Date }[]>`
    WITH head AS (
      UPDATE project_head SET head_seq = head_seq + ${drafts.length}, event_count = event_count + ${drafts.length},
        message_count = message_count + ${messages}, queue_revision = queue_revision + ${queueChanged ? 1 : 0},
        output_bytes = GREATEST(0, output_bytes + ${outputBytes}),
        first_message_at = CASE WHEN ${messages} > 0 THEN COALESCE(first_message_at, now()) ELSE first_message_at END,
        last_message_at = CASE WHEN ${messages} > 0 THEN now() ELSE last_message_at END
      WHERE project_id = ${projectId}::uuid
      RETURNING head_seq, queue_revision, date_trunc('milliseconds', clock_timestamp()) AS now
    ), appended AS (
      INSERT INTO event (project_id, seq, id, type, session_id, run_id, payload, payload_bytes, created_at)
      SELECT ${projectId}::uuid, head.head_seq - ${drafts.length} + e.n, e.id, e.type, e.session_id, e.run_id, e.payload,
        e.payload_bytes, head.now
      FROM head, jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        AS e(n int, id uuid, type text, session_id uuid, run_id uuid, payload jsonb, payload_bytes int)
    ), seen AS (
      UPDATE project SET state = ${state}, last_active_at = now() WHERE id = ${projectId}::uuid AND ${state}::text IS NOT NULL
    )
    SELECT head_seq, queue_revision, now FROM head`;
  if (head === undefined) throw new AppError('project.not_found', 'There is no such project.');
  const before = Number(head.head_seq) - drafts.length;
  const events = drafts.map((draft, index) => ({
    projectId,
    seq: before + index + 1,
    eventId: ids[index] ?? '',
    type: draft.type,
    sessionId: draft.sessionId ?? null,
    runId: draft.runId ?? null,
    payload: draft.payload,
    createdAt: head.now,
  }));
  return { events, queueRevision: Number(head.queue_revision) };
}
