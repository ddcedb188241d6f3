import { newId } from '#kernel';
import { redisKeys } from './redis-keys.js';

describe('redisKeys', () => {
  it('ENG-3 puts the instance id into every key and channel, and no two of them are the same', () => {
    const instance = newId();
    const keys = redisKeys(instance);
    const id = newId();
    const names = [
      keys.bullPrefix,
      keys.project(id),
      keys.wake(id),
      keys.hostRequests(id),
      keys.hostReplies(id),
      keys.partials(id),
    ];
    expect(names).toHaveLength(Object.keys(keys).length);
    for (const name of names) expect(name.startsWith(`gantry:${instance}:`)).toBe(true);
    expect(new Set(names).size).toBe(names.length);
  });
});
