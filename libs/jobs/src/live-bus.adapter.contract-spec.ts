import { describeLiveBus } from './live-bus.contract.js';
import { RedisLiveBus } from './live-bus.adapter.js';
import { createRedisFixture, ready, type RedisFixture } from './testing/redis-fixture.js';
import type { Redis } from 'ioredis';

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
