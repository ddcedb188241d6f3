// Submits runs as a gateway does - a transaction, then the announcement - and waits until Postgres says that all have ended.
import { randomUUID } from 'node:crypto';
import { chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { HostStore } from '#domain';
import { BullRunQueue, createRedis, RedisAnnouncer, redisKeys, RedisLiveBus, RedisSubscriber } from '#jobs';
import { instanceId, PgHostStore, PgRunStore, PgTokenStore } from '#persistence';
import { type TestDatabase, until } from '#testing';

export interface EngineLoad {
  /** Rows of `count` projects more, as if they had been created and never used; with `folders` they can be used. */
  addProjects(count: number, options?: { folders?: boolean }): Promise<string[]>;
  /** Runs per second from the first submission to the last end. */
  run(projectIds: string[], runs: number): Promise<{ perSecond: number; faults: number }>;
  close(): Promise<void>;
}

const SUBMITTERS = 32;

export async function openEngineLoad({ db }: TestDatabase, redisUrl: string, root: string): Promise<EngineLoad> {
  const report = (): void => undefined;
  const keys = redisKeys(await instanceId(db));
  const redis = createRedis(redisUrl, { name: 'bench', role: 'commands', report });
  const subscriber = createRedis(redisUrl, { name: 'bench', role: 'subscriber', report });
  const bus = new RedisLiveBus({ redis, subscriber: new RedisSubscriber(subscriber, report), keys, report });
  const queue = new BullRunQueue(redis, keys, report);
  const announcer = new RedisAnnouncer({ queue, bus, report });
  const runs = new PgRunStore(db);
  const hosts: HostStore = new PgHostStore(db);
  const { userId } = await new PgTokenStore(db).bootstrapAdmin(`gnt_${randomUUID()}`);
  const { hostId } = await until('a worker holds the host', async () => (await hosts.list()).find(({ held }) => held));

  const submit = async (projectId: string): Promise<void> => {
    const { announcement } = await runs.enqueueCommand({
      projectId,
      userId,
      lane: 'main',
      timeoutMs: 60_000,
      correlationId: randomUUID(),
      argv: ['noop'],
      shellCommand: null,
      workingDir: null,
    });
    await announcer.announce(announcement);
  };
  const unfinished = async (): Promise<number> => {
    const [row] = await db.client.$queryRaw<{ count: number }[]>`SELECT count(*)::int AS count FROM run
      WHERE status IN ('queued', 'dispatched', 'running', 'waiting', 'parked', 'paused')`;
    return row?.count ?? 0;
  };
  /** Runs that began before the one ahead of them in their lane had ended, or that did not succeed. */
  const faults = async (): Promise<number> => {
    const [row] = await db.client.$queryRaw<{ count: number }[]>`SELECT count(*)::int AS count FROM (
        SELECT status, started_at, lag(finished_at) OVER (PARTITION BY project_id, lane ORDER BY position) AS before FROM run
      ) run WHERE status <> 'succeeded' OR started_at < before`;
    return row?.count ?? 0;
  };
  return {
    addProjects: async (count, { folders = false } = {}) => {
      const ids = Array.from({ length: count }, () => randomUUID());
      for (const id of folders ? ids : []) {
        await mkdir(join(root, id));
        await chown(join(root, id), 1000, 1000);
      }
      await db.client.$executeRaw`INSERT INTO project (id, host_id, name, path, created_by)
        SELECT id::uuid, ${hostId}::uuid, id, ${root} || '/' || id, ${userId}::uuid FROM unnest(${ids}::text[]) id`;
      await db.client.$executeRaw`INSERT INTO project_head (project_id) SELECT id::uuid FROM unnest(${ids}::text[]) id`;
      await db.client.$executeRawUnsafe('ANALYZE');
      return ids;
    },
    run: async (projectIds, count) => {
      const started = performance.now();
      let next = 0;
      const submitter = async (): Promise<void> => {
        while (next < count) {
          const projectId = projectIds[next % projectIds.length] ?? '';
          next += 1;
          await submit(projectId);
        }
      };
      await Promise.all(Array.from({ length: SUBMITTERS }, submitter));
      await until('all runs have ended', async () => ((await unfinished()) === 0 ? true : undefined), 600_000);
      const perSecond = count / ((performance.now() - started) / 1000);
      return { perSecond, faults: await faults() };
    },
    close: async () => {
      redis.disconnect();
      subscriber.disconnect();
      await queue.close();
    },
  };
}
