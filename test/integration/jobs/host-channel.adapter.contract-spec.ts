import type { Redis } from 'ioredis';
import { RedisHostClient, RedisHostServer } from '#jobs';
import { describeHostChannel } from '#testing';
import { createRedisFixture, ready, type RedisFixture } from './redis-fixture.js';

let fixture: RedisFixture;
let redis: Redis;
beforeAll(async () => {
  fixture = await createRedisFixture();
  redis = await ready(fixture.client('commands'));
});
afterAll(async () => {
  await fixture.close();
});

describeHostChannel('Redis', () => {
  const { keys, report } = fixture;
  return {
    client: new RedisHostClient({ redis, subscriber: fixture.subscriber(), keys }),
    server: new RedisHostServer({ redis, subscriber: fixture.subscriber(), keys, report }),
  };
});
