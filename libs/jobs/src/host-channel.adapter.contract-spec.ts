import type { Redis } from 'ioredis';
import { RedisHostClient } from './host-client.adapter.js';
import { describeHostChannel } from './host-channel.contract.js';
import { RedisHostServer } from './host-server.adapter.js';
import { createRedisFixture, ready, type RedisFixture } from './testing/redis-fixture.js';

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
