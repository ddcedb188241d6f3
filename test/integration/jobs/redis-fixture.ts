// What the tests on a real Redis share: one server, fresh keys, clients that are closed afterwards.
import type { Redis } from 'ioredis';
import { newId } from '#kernel';
import { createRedis, type Problem, redisKeys, type RedisRole, RedisSubscriber } from '#jobs';
import { Heard, type RedisProcess, startRedisProcess } from '#testing';

export interface RedisFixture {
  server: RedisProcess;
  /** Of an instance of its own. */
  keys: ReturnType<typeof redisKeys>;
  problems: Heard<Problem>;
  report: (problem: Problem) => void;
  client(role: RedisRole): Redis;
  subscriber(): RedisSubscriber;
  close(): Promise<void>;
}

export async function createRedisFixture(options: { started?: boolean } = {}): Promise<RedisFixture> {
  const server = await startRedisProcess(options);
  const clients: Redis[] = [];
  const problems = new Heard<Problem>();
  const report = problems.listen;
  const client = (role: RedisRole) => {
    const made = createRedis(server.url, { name: 'test', role, report });
    clients.push(made);
    return made;
  };
  return {
    server,
    keys: redisKeys(newId()),
    problems,
    report,
    client,
    subscriber: () => new RedisSubscriber(client('subscriber'), report),
    close: async () => {
      for (const one of clients) one.disconnect();
      await server.close();
    },
  };
}

/** Resolves when the client is connected (again). */
export async function ready(client: Redis): Promise<Redis> {
  if (client.status !== 'ready') await new Promise<void>((resolve) => client.once('ready', () => resolve()));
  return client;
}
