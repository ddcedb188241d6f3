// Health checks under a clock that only moves when told.
import { AppError, type Clock } from '#kernel';
import { HealthRegistry } from './health-registry.js';

class ManualClock implements Clock {
  ms = 0;
  now(): Date {
    return new Date(this.ms);
  }
  monotonicMs(): number {
    return this.ms;
  }
}

const passes = async (): Promise<void> => undefined;

describe('HealthRegistry', () => {
  it('OBS-10 reports each check by name with a code that clients may see', async () => {
    const health = new HealthRegistry();
    health.register({ name: 'postgres', scope: 'readiness', run: passes });
    health.register({
      name: 'engine',
      scope: 'readiness',
      run: () => Promise.reject(new AppError('host.engine_unreachable', 'The Docker engine does not answer.')),
    });
    const report = await health.report('readiness');
    expect(report).toMatchObject({
      status: 'failed',
      checks: { postgres: { status: 'ok' }, engine: { status: 'failed', error: { code: 'host.engine_unreachable' } } },
    });
  });

  it('OBS-10 hides what a foreign error says', async () => {
    const health = new HealthRegistry();
    health.register({
      name: 'redis',
      scope: 'readiness',
      run: () => {
        throw new Error('connect ECONNREFUSED 10.1.2.3:6379');
      },
    });
    const report = await health.report('readiness');
    expect(report.checks['redis']?.error?.code).toBe('internal.unexpected');
    expect(JSON.stringify(report)).not.toContain('10.1.2.3');
  });

  it('OBS-11 asks only liveness checks for liveness, so that a database that is away restarts nothing', async () => {
    const health = new HealthRegistry();
    health.register({ name: 'postgres', scope: 'readiness', run: () => Promise.reject(new Error('away')) });
    health.register({ name: 'event_loop', scope: 'liveness', run: passes });
    expect(await health.report('liveness')).toMatchObject({ status: 'ok', checks: { event_loop: { status: 'ok' } } });
    expect(Object.keys((await health.report('readiness')).checks)).toEqual(['postgres', 'event_loop']);
  });

  it('OBS-11 is alive but not ready while draining', async () => {
    const health = new HealthRegistry();
    health.startDraining();
    expect(await health.report('liveness')).toMatchObject({ status: 'ok' });
    expect(await health.report('readiness')).toMatchObject({ status: 'failed', draining: true });
  });

  it('OBS-12 fails a check at its deadline, aborts it, and ignores its late answer', async () => {
    const health = new HealthRegistry();
    let aborted = false;
    health.register({
      name: 'slow',
      scope: 'readiness',
      deadlineMs: 5,
      run: (signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            aborted = true;
            reject(new Error('late'));
          });
        }),
    });
    const report = await health.report('readiness');
    expect(report.checks['slow']).toMatchObject({ status: 'failed', error: { code: 'service.timeout' } });
    expect(aborted).toBe(true);
  });

  it('OBS-13 asks once for askers at the same moment, and again only after the result is old', async () => {
    const clock = new ManualClock();
    const health = new HealthRegistry(clock);
    let asked = 0;
    health.register({
      name: 'postgres',
      scope: 'readiness',
      cacheMs: 1000,
      run: async () => {
        asked += 1;
      },
    });
    await Promise.all([health.report('readiness'), health.report('readiness')]);
    clock.ms = 999;
    await health.report('readiness');
    expect(asked).toBe(1);
    clock.ms = 1000;
    await health.report('readiness');
    expect(asked).toBe(2);
  });

  it('OBS-13 refuses a second check of the same name', () => {
    const health = new HealthRegistry();
    health.register({ name: 'postgres', scope: 'readiness', run: passes });
    expect(() => health.register({ name: 'postgres', scope: 'liveness', run: passes })).toThrow('registered twice');
  });
});
