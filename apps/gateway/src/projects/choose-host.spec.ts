// Where a project goes.
import type { HostRecord } from '#domain';
import { chooseHost, rootsOf } from './choose-host.js';

const host = (hostId: string, maxRuns: number, held = true, projectRoots = ['/srv']): HostRecord => ({
  hostId,
  engineId: hostId,
  epoch: 1,
  held,
  lostAt: null,
  maxRuns,
  projectRoots,
});

it('GW-18 chooses the host with most room', () => {
  const hosts = [host('a', 4), host('b', 8), host('c', 2)];
  expect(chooseHost(hosts, [])?.hostId).toBe('b');
  const loads = [
    { hostId: 'b', count: 3 },
    { hostId: 'b', count: 4 },
    { hostId: 'c', count: 1 },
  ];
  expect(chooseHost(hosts, loads)?.hostId).toBe('a');
});

it('GW-18 takes the first of equals, and nothing of nothing', () => {
  expect(chooseHost([host('a', 4), host('b', 4)], [])?.hostId).toBe('a');
  expect(chooseHost([], [])).toBeUndefined();
});

it('GW-5 names the roots of all hosts once, first those of the held ones', () => {
  const away = host('b', 1, false, ['/c', '/a']);
  expect(rootsOf([away, host('a', 1, true, ['/a', '/b']), host('c', 1, true, ['/b'])])).toEqual(['/a', '/b', '/c']);
});
