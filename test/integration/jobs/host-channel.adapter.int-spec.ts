import { newId } from '#kernel';
import { RedisHostClient, RedisHostServer } from '#jobs';
import { handlersWith } from '#testing';
import { createRedisFixture, ready, type RedisFixture } from './redis-fixture.js';

let fixture: RedisFixture;
const ends = () => {
  const { keys, report } = fixture;
  const redis = fixture.client('commands');
  return {
    redis,
    client: new RedisHostClient({ redis, subscriber: fixture.subscriber(), keys }),
    server: new RedisHostServer({ redis: fixture.client('commands'), subscriber: fixture.subscriber(), keys, report }),
  };
};
const removed = handlersWith({ 'project.remove': async () => ({ removed: true }) });

afterEach(async () => {
  await fixture.close();
});

describe('the host channel when Redis misbehaves', () => {
  it('ENG-5 says host.unavailable while Redis is down, and answers once it is up', async () => {
    fixture = await createRedisFixture({ started: false });
    const { client, server } = ends();
    const hostId = newId();
    await server.serve(hostId, removed);
    const early = client.request(hostId, 'project.remove', { projectId: newId() }, { deadlineMs: 50 });
    await expect(early).rejects.toMatchObject({ code: 'host.unavailable' });
    await fixture.server.start();
    expect(await client.request(hostId, 'project.remove', { projectId: newId() })).toEqual({ removed: true });
  });

  it('ENG-5 asks again over a restart of Redis within the deadline', async () => {
    fixture = await createRedisFixture();
    const { client, server, redis } = ends();
    const hostId = newId();
    await ready(redis);
    await server.serve(hostId, removed);
    await client.request(hostId, 'project.remove', { projectId: newId() });
    await fixture.server.kill();
    const asked = client.request(hostId, 'project.remove', { projectId: newId() });
    await fixture.server.start();
    expect(await asked).toEqual({ removed: true });
  });

  it('ENG-2 drops a request that it cannot read', async () => {
    fixture = await createRedisFixture();
    const { client, server, redis } = ends();
    const hostId = newId();
    await ready(redis);
    await server.serve(hostId, removed);
    await client.request(hostId, 'project.remove', { projectId: newId() });
    await redis.publish(fixture.keys.hostRequests(hostId), '{"version":9}');
    expect(await client.request(hostId, 'project.remove', { projectId: newId() })).toEqual({ removed: true });
    expect(await fixture.problems.next()).toMatchObject({ operation: 'host.decode' });
  });
});
