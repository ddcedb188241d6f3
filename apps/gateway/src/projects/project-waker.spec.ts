import type { HostClient } from '#domain';
import { AppError } from '#kernel';
import { ProjectWaker } from './project-waker.js';

const project = { projectId: 'p', hostId: 'h' };

function wakerWith(request: HostClient['request']) {
  const reported: unknown[] = [];
  let now = 0;
  const clock = { now: () => new Date(0), monotonicMs: () => now };
  const waker = new ProjectWaker({ hostClient: { request }, report: (error) => reported.push(error), clock });
  return { waker, reported, pass: (ms: number) => (now += ms) };
}

it('GW-55 wakes a project once in ten seconds, however many join', () => {
  const asked: string[] = [];
  const request = (async (_host: string, _name: string, payload: { projectId: string }) => {
    asked.push(payload.projectId);
    return {};
  }) as unknown as HostClient['request'];
  const { waker, pass } = wakerWith(request);
  waker.wake(project);
  waker.wake(project);
  waker.wake({ projectId: 'q', hostId: 'h' });
  pass(10_000);
  waker.wake(project);
  expect(asked).toEqual(['p', 'q', 'p']);
});

it('GW-55 says nothing of a host that is away, and reports any other failure', async () => {
  const failing = (code: 'host.unavailable' | 'internal.unexpected') =>
    wakerWith(() => Promise.reject(new AppError(code, 'no')));
  const away = failing('host.unavailable');
  const broken = failing('internal.unexpected');
  away.waker.wake(project);
  broken.waker.wake(project);
  await new Promise(setImmediate);
  expect(away.reported).toEqual([]);
  expect(broken.reported).toHaveLength(1);
});
