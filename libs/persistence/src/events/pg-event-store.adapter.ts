// Reading events: always by keys of an index, never by OFFSET.
import type { EventRange, EventStore, PageBounds, PayloadRange, ProjectHeads } from '#domain';
import type { EventType } from '#kernel';
import type { Database } from '../database.js';
import type { Prisma } from '../generated/client.js';
import { toEvent } from './event-rows.js';

/** What an event costs beside its payload, bytes. */
const ENVELOPE_BYTES = 200;

/** How many of the rows fit into the byte bound; the first one always does. */
function fitting(rows: { payloadBytes: number }[], maxBytes: number): number {
  let bytes = 0;
  const end = rows.findIndex(({ payloadBytes }, index) => {
    bytes += payloadBytes + ENVELOPE_BYTES;
    return index > 0 && bytes > maxBytes;
  });
  return end === -1 ? rows.length : end;
}

function seqRange(after: number | undefined, before: number | undefined): { seq?: Prisma.BigIntFilter } {
  if (after === undefined && before === undefined) return {};
  return { seq: { ...(after === undefined ? {} : { gt: after }), ...(before === undefined ? {} : { lt: before }) } };
}

interface Query {
  where: Prisma.EventWhereInput;
  order: 'asc' | 'desc';
  bounds: PageBounds;
}

export class PgEventStore implements EventStore {
  constructor(private readonly db: Database) {}

  async after(projectId: string, afterSeq: number, bounds: PageBounds): Promise<EventRange> {
    return this.#read({ where: { projectId, seq: { gt: afterSeq } }, order: 'asc', bounds });
  }

  async newest(
    projectId: string,
    bounds: PageBounds & { afterSeq?: number; beforeSeq?: number; sessionId?: string },
  ): Promise<EventRange> {
    const seq = seqRange(bounds.afterSeq, bounds.beforeSeq);
    const range = await this.#read({ where: { projectId, ...sessionOf(bounds), ...seq }, order: 'desc', bounds });
    return { ...range, events: range.events.reverse() };
  }

  async since(
    projectId: string,
    since: Date,
    bounds: PageBounds & { afterSeq?: number; beforeSeq?: number; sessionId?: string },
  ): Promise<EventRange> {
    // Times rise with the numbers, so the first event since then is where a page by number begins.
    const first = await this.db.run((client) =>
      client.event.findFirst({
        where: { projectId, createdAt: { gte: since } },
        orderBy: [{ createdAt: 'asc' }, { seq: 'asc' }],
        select: { seq: true },
      }),
    );
    if (first === null) return { events: [], truncated: false };
    const afterSeq = Math.max(Number(first.seq) - 1, bounds.afterSeq ?? 0);
    const seq = seqRange(afterSeq, bounds.beforeSeq);
    return this.#read({ where: { projectId, ...sessionOf(bounds), ...seq }, order: 'asc', bounds });
  }

  async ofSession(projectId: string, sessionId: string, afterSeq: number, bounds: PageBounds): Promise<EventRange> {
    return this.#read({ where: { projectId, sessionId, seq: { gt: afterSeq } }, order: 'asc', bounds });
  }

  async payloadBytes(
    projectId: string,
    eventId: string,
    { fromByte, maxBytes }: { fromByte: number; maxBytes: number },
  ): Promise<PayloadRange | undefined> {
    const [row] = await this.db.run(
      (client) => client.$queryRaw<{ type: string; total: number; bytes: Uint8Array }[]>`
        SELECT type, octet_length(json) AS total, substring(json FROM ${fromByte + 1}::int FOR ${maxBytes}::int) AS bytes
        FROM (SELECT type, convert_to(payload::text, 'UTF8') AS json FROM event
          WHERE id = ${eventId}::uuid AND project_id = ${projectId}::uuid) AS event`,
    );
    return row === undefined ? undefined : { type: row.type as EventType, bytes: row.bytes, totalBytes: row.total };
  }

  async seqOf(projectId: string, eventId: string): Promise<number | undefined> {
    const row = await this.db.run((client) =>
      client.event.findFirst({ where: { id: eventId, projectId }, select: { seq: true } }),
    );
    return row === null ? undefined : Number(row.seq);
  }

  async heads(projectIds: string[]): Promise<Map<string, ProjectHeads>> {
    const rows = await this.db.run((client) =>
      client.projectHead.findMany({
        where: { projectId: { in: projectIds } },
        select: { projectId: true, headSeq: true, queueRevision: true },
      }),
    );
    return new Map(
      rows.map((row) => [row.projectId, { headSeq: Number(row.headSeq), queueRevision: Number(row.queueRevision) }]),
    );
  }

  async cursorOf(userId: string, clientId: string, projectId: string): Promise<number | undefined> {
    const row = await this.db.run((client) =>
      client.clientCursor.findUnique({ where: { userId_clientId_projectId: { userId, clientId, projectId } } }),
    );
    return row === null ? undefined : Number(row.seq);
  }

  async saveCursor(userId: string, clientId: string, projectId: string, seq: number): Promise<void> {
    await this.db.run(
      (client) => client.$executeRaw`INSERT INTO client_cursor (user_id, client_id, project_id, seq)
        VALUES (${userId}::uuid, ${clientId}, ${projectId}::uuid, ${seq})
        ON CONFLICT (user_id, client_id, project_id)
        DO UPDATE SET seq = GREATEST(client_cursor.seq, EXCLUDED.seq), updated_at = now()`,
    );
  }

  /** Sizes first: payloads that do not fit are never read. */
  async #read({ where, order, bounds }: Query): Promise<EventRange> {
    return this.db.run(async (client) => {
      const orderBy = { seq: order };
      const select = { seq: true, payloadBytes: true };
      const sizes = await client.event.findMany({ where, orderBy, take: bounds.limit + 1, select });
      const fit = sizes.slice(0, fitting(sizes.slice(0, bounds.limit), bounds.maxBytes));
      // By their numbers: new events may have come in between.
      const seq = { in: fit.map((row) => row.seq) };
      const rows = fit.length === 0 ? [] : await client.event.findMany({ where: { ...where, seq }, orderBy });
      return { events: rows.map(toEvent), truncated: fit.length < sizes.length };
    });
  }
}

const sessionOf = ({ sessionId }: { sessionId?: string }): { sessionId?: string } =>
  sessionId === undefined ? {} : { sessionId };
