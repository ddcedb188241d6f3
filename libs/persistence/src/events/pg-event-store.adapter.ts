// Reading events: always by keys of an index, never by OFFSET.
import type { EventRange, EventRecord, EventStore } from '#domain';
import type { Database } from '../database.js';
import type { Prisma } from '../generated/client.js';
import { toEvent } from './event-rows.js';

/** Keeps events until the byte bound is reached; the first one always goes, so that a reader gets on. */
function within(events: EventRecord[], maxBytes: number | undefined): EventRecord[] {
  if (maxBytes === undefined) return events;
  let bytes = 0;
  const end = events.findIndex((event, index) => {
    bytes += Buffer.byteLength(JSON.stringify(event.payload)) + 200;
    return index > 0 && bytes > maxBytes;
  });
  return end === -1 ? events : events.slice(0, end);
}

function seqRange(after: number | undefined, before: number | undefined): Prisma.BigIntFilter | undefined {
  if (after === undefined && before === undefined) return undefined;
  return { ...(after === undefined ? {} : { gt: after }), ...(before === undefined ? {} : { lt: before }) };
}

interface Query {
  where: Prisma.EventWhereInput;
  order: 'asc' | 'desc';
  limit: number;
  maxBytes?: number;
}

export class PgEventStore implements EventStore {
  constructor(private readonly db: Database) {}

  async after(projectId: string, afterSeq: number, bounds: { limit: number; maxBytes?: number }): Promise<EventRange> {
    return this.#read({ where: { projectId, seq: { gt: afterSeq } }, order: 'asc', ...bounds });
  }

  async newest(
    projectId: string,
    bounds: { limit: number; maxBytes?: number; afterSeq?: number; beforeSeq?: number; sessionId?: string },
  ): Promise<EventRange> {
    const seq = seqRange(bounds.afterSeq, bounds.beforeSeq);
    const where = {
      projectId,
      ...(seq === undefined ? {} : { seq }),
      ...(bounds.sessionId === undefined ? {} : { sessionId: bounds.sessionId }),
    };
    const range = await this.#read({ where, order: 'desc', limit: bounds.limit, ...maxOf(bounds) });
    return { ...range, events: range.events.reverse() };
  }

  async since(
    projectId: string,
    since: Date,
    bounds: { limit: number; afterSeq?: number; beforeSeq?: number; sessionId?: string },
  ): Promise<EventRange> {
    const seq = seqRange(bounds.afterSeq, bounds.beforeSeq);
    const where = {
      projectId,
      createdAt: { gte: since },
      ...(seq === undefined ? {} : { seq }),
      ...(bounds.sessionId === undefined ? {} : { sessionId: bounds.sessionId }),
    };
    return this.#read({ where, order: 'asc', limit: bounds.limit });
  }

  async ofSession(projectId: string, sessionId: string, afterSeq: number, limit: number): Promise<EventRange> {
    return this.#read({ where: { projectId, sessionId, seq: { gt: afterSeq } }, order: 'asc', limit });
  }

  async seqOf(projectId: string, eventId: string): Promise<number | undefined> {
    const row = await this.db.run((client) =>
      client.event.findFirst({ where: { id: eventId, projectId }, select: { seq: true } }),
    );
    return row === null ? undefined : Number(row.seq);
  }

  async heads(projectIds: string[]): Promise<Map<string, number>> {
    const rows = await this.db.run((client) =>
      client.projectHead.findMany({
        where: { projectId: { in: projectIds } },
        select: { projectId: true, headSeq: true },
      }),
    );
    return new Map(rows.map((row) => [row.projectId, Number(row.headSeq)]));
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

  async #read(query: Query): Promise<EventRange> {
    const rows = await this.db.run((client) =>
      client.event.findMany({ where: query.where, orderBy: { seq: query.order }, take: query.limit + 1 }),
    );
    const limited = rows.slice(0, query.limit).map(toEvent);
    const events = within(limited, query.maxBytes);
    return { events, truncated: events.length < rows.length };
  }
}

const maxOf = (bounds: { maxBytes?: number }): { maxBytes?: number } =>
  bounds.maxBytes === undefined ? {} : { maxBytes: bounds.maxBytes };
