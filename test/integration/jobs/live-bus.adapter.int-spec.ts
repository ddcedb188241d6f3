import type { LiveFrame } from '#domain';
import { newId } from '#kernel';
import { RedisLiveBus, redisKeys } from '#jobs';
import { Heard, deltaOf, outputFrame } from '#testing';
import { createRedisFixture, ready, type RedisFixture } from './redis-fixture.js';

let fixture: RedisFixture;
const busOf = (keys = fixture.keys) =>
  new RedisLiveBus({
    redis: fixture.client('commands'),
    subscriber: fixture.subscriber(),
    keys,
    report: fixture.report,
  });

afterEach(async () => {
  await fixture.close();
});

describe('RedisLiveBus when Redis misbehaves', () => {
  it('ENG-4 works once Redis comes up, though it was down at start', async () => {
    fixture = await createRedisFixture({ started: false });
    const bus = busOf();
    const projectId = newId();
    bus.publish(projectId, outputFrame(projectId, 1));
    await bus.savePartial(projectId, newId(), [deltaOf(projectId, newId(), 1, 'x')]);
    await expect(bus.partials(projectId)).rejects.toMatchObject({ code: 'service.unavailable' });
    const heard = new Heard<LiveFrame>();
    const subscribed = bus.subscribe(projectId, heard.listen);
    await fixture.server.start();
    await subscribed;
    const speaker = fixture.client('commands');
    await ready(speaker);
    new RedisLiveBus({
      redis: speaker,
      subscriber: fixture.subscriber(),
      keys: fixture.keys,
      report: fixture.report,
    }).publish(projectId, outputFrame(projectId, 2));
    expect(await heard.next()).toMatchObject({ output: { headOffset: 2 } });
    expect(fixture.problems.all.map(({ operation }) => operation)).toEqual(
      expect.arrayContaining(['redis.connection', 'live.publish', 'live.save_partial']),
    );
  });

  it('ENG-4 tells after a restart that frames may be missing, when every subscription stands again', async () => {
    fixture = await createRedisFixture();
    const redis = await ready(fixture.client('commands'));
    const subscriber = fixture.subscriber();
    const bus = new RedisLiveBus({ redis, subscriber, keys: fixture.keys, report: fixture.report });
    const projectIds = [newId(), newId(), newId()];
    const heard = new Heard<LiveFrame>();
    for (const projectId of projectIds) await bus.subscribe(projectId, heard.listen);
    const reconnected = new Heard<string>();
    bus.onReconnect(() => reconnected.listen('again'));

    await fixture.server.kill();
    await fixture.server.start();
    await reconnected.next();
    await ready(redis);
    for (const projectId of projectIds) bus.publish(projectId, outputFrame(projectId, 3));
    for (const _ of projectIds) await heard.next();
    expect(reconnected.all).toHaveLength(1);
  });

  it('ENG-4 refuses a subscription that cannot stand within its deadline, and forgets it', async () => {
    fixture = await createRedisFixture({ started: false });
    const subscriber = fixture.subscriber();
    const heard = new Heard<string>();
    await expect(subscriber.subscribe('a', heard.listen, 20)).rejects.toMatchObject({ code: 'service.unavailable' });
    await fixture.server.start();
    await subscriber.subscribe('b', heard.listen);
    const redis = await ready(fixture.client('commands'));
    expect(await redis.publish('a', 'x')).toBe(0);
    expect(await redis.publish('b', 'x')).toBe(1);
  });

  it('ENG-3 keeps two instances on one Redis apart', async () => {
    fixture = await createRedisFixture();
    const [ours, theirs] = [busOf(), busOf(redisKeys(newId()))];
    const projectId = newId();
    const [heardByUs, heardByThem] = [new Heard<LiveFrame>(), new Heard<LiveFrame>()];
    await ours.subscribe(projectId, heardByUs.listen);
    await theirs.subscribe(projectId, heardByThem.listen);
    theirs.publish(projectId, outputFrame(projectId, 1));
    await heardByThem.next();
    ours.publish(projectId, outputFrame(projectId, 2));
    expect(await heardByUs.next()).toMatchObject({ output: { headOffset: 2 } });
    expect(heardByThem.all).toHaveLength(1);
  });

  it('ENG-7 forgets an unfinished message that nobody saved for a while', async () => {
    fixture = await createRedisFixture();
    let nowMs = 1_000_000;
    const bus = new RedisLiveBus({
      redis: await ready(fixture.client('commands')),
      subscriber: fixture.subscriber(),
      keys: fixture.keys,
      report: fixture.report,
      partialTtlMs: 5_000,
      clock: { now: () => new Date(nowMs), monotonicMs: () => nowMs },
    });
    const [projectId, runId] = [newId(), newId()];
    await bus.savePartial(projectId, runId, [deltaOf(projectId, runId, 1, 'old')]);
    nowMs += 5_000;
    expect(await bus.partials(projectId)).toHaveLength(1);
    nowMs += 1;
    expect(await bus.partials(projectId)).toEqual([]);
  });
});
