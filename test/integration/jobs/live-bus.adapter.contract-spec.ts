import type { Redis } from 'ioredis';
import { RedisLiveBus } from '#jobs';
import { describeLiveBus } from '#testing';
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

describeLiveBus('RedisLiveBus', () => {
  const { keys, report } = fixture;
  return new RedisLiveBus({ redis, subscriber: fixture.subscriber(), keys, report });
});
