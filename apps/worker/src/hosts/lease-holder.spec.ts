import type { EngineInfo, HostLease } from '#domain';
import { AppError, newId, systemClock, toAppError } from '#kernel';
import { createLogger } from '#observability';
import { LeaseHolder } from './lease-holder.js';
import type { LeaseTerm } from './lease-term.js';

const LEASE_MS = 3_000;
const hostId = newId();
const ENGINE: EngineInfo = { engineId: 'e', version: '20', cpus: 2, memoryBytes: 1, liveRestore: true };
const logger = createLogger({ service: 'test', level: 'silent' });

/** The row of one host, on the clock of the test. */
class HostRow {
  epoch = 0;
  holder: string | undefined;
  until = 0;
  reachable = true;

  async acquire({ holderId, leaseMs }: { holderId: string; leaseMs: number }): Promise<HostLease | undefined> {
    this.requireReachable();
    if (this.holder !== undefined && this.until > performance.now()) return undefined;
    this.epoch += 1;
    this.holder = holderId;
    this.until = performance.now() + leaseMs;
    return { hostId, holderId, epoch: this.epoch };
  }

  async renew({ holderId, epoch }: HostLease, leaseMs: number): Promise<boolean> {
    this.requireReachable();
    if (this.holder !== holderId || this.epoch !== epoch) return false;
    this.until = performance.now() + leaseMs;
    return true;
  }

  async release({ holderId, epoch }: HostLease): Promise<void> {
    this.requireReachable();
    if (this.holder === holderId && this.epoch === epoch) this.holder = undefined;
  }

  private requireReachable(): void {
    if (!this.reachable) throw new AppError('service.unavailable', 'Postgres is away.');
  }
}

function holder(row: HostRow, clock = systemClock) {
  const events: string[] = [];
  let act: (what: string) => Promise<void> = () => Promise.resolve();
  const tenure = (lease: HostLease, term: LeaseTerm) => ({
    start: async () => {
      events.push(`start ${lease.epoch}`);
      act = (what) =>
        term.running().then(
          () => void events.push(what),
          (error: unknown) => void events.push(`${what}: ${toAppError(error).code}`),
        );
    },
    end: async () => void events.push(`end ${lease.epoch}`),
    shutDown: async () => void events.push(`shut down ${lease.epoch}`),
  });
  const made = new LeaseHolder({
    hosts: row,
    probe: { proven: async (signal) => (signal.aborted ? undefined : ENGINE) },
    holderId: newId(),
    leaseMs: LEASE_MS,
    maxRuns: 4,
    projectRoots: [],
    makeTenure: tenure,
    clock,
    logger,
  });
  made.start();
  return { made, events, act: (what: string) => act(what) };
}

const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

describe('LeaseHolder', () => {
  it('ENG-10 holds as long as it renews, while a standby keeps out', async () => {
    const row = new HostRow();
    const [first, second] = [holder(row), holder(row)];
    await pass(20_000);
    expect(first.events).toEqual(['start 1']);
    expect(second.events).toEqual([]);
    expect(first.made.lease?.epoch).toBe(1);
    expect(second.made.lease).toBeUndefined();
    expect(() => second.made.check()).not.toThrow();
  });

  it('ENG-10, ENG-14 releases when it is stopped, and the standby has the host within a third of a lease', async () => {
    const row = new HostRow();
    const [first, second] = [holder(row), holder(row)];
    await pass(5_000);
    await first.made.stop();
    await pass(LEASE_MS / 3);
    expect(first.events).toEqual(['start 1', 'end 1']);
    expect(second.events).toEqual(['start 2']);
  });

  it('ENG-11 lets go when another worker has the host, and stands by', async () => {
    const row = new HostRow();
    const { made, events } = holder(row);
    await pass(1);
    row.holder = newId();
    row.epoch += 1;
    row.until = performance.now() + 10_000;
    await pass(LEASE_MS / 3);
    expect(events).toEqual(['start 1', 'end 1']);
    expect(made.lease).toBeUndefined();
    await pass(12_000);
    expect(events).toEqual(['start 1', 'end 1', 'start 3']);
  });

  it('ENG-11 lets go when Postgres was away for as long as the lease, and takes it again when it is back', async () => {
    const row = new HostRow();
    const { made, events } = holder(row);
    await pass(LEASE_MS);
    row.reachable = false;
    await pass(LEASE_MS / 3 + 1);
    expect(events).toEqual(['start 1']); // one lost renewal is none
    await pass(LEASE_MS);
    expect(events).toEqual(['start 1', 'end 1']);
    expect(() => made.check()).toThrow('Postgres is away.');
    row.reachable = true;
    await pass(LEASE_MS);
    expect(events).toEqual(['start 1', 'end 1', 'start 2']);
    expect(() => made.check()).not.toThrow();
  });

  describe('that was frozen for longer than its lease', () => {
    /** Timers stand still in a process that is stopped, and the monotonic clock goes on. */
    const frozen = () => {
      let slept = 0;
      const clock = { ...systemClock, monotonicMs: () => performance.now() + slept };
      return { clock, sleep: (ms: number) => (slept += ms) };
    };

    it('ENG-52 does nothing before it has asked, and then nothing more when another has the host', async () => {
      const row = new HostRow();
      const { clock, sleep } = frozen();
      const { events, act } = holder(row, clock);
      await pass(1);
      await act('before');
      sleep(LEASE_MS);
      row.holder = newId();
      row.epoch += 1;
      row.until = performance.now() + 10_000;
      void act('after');
      await pass(1);
      expect(events).toEqual(['start 1', 'before']);
      await pass(LEASE_MS / 3);
      expect(events.slice(2).sort()).toEqual(['after: host.lease_lost', 'end 1']);
    });

    it('ENG-52 goes on when it was the only one and has renewed', async () => {
      const row = new HostRow();
      const { clock, sleep } = frozen();
      const { events, act } = holder(row, clock);
      await pass(1);
      sleep(LEASE_MS);
      void act('first');
      void act('second');
      await pass(1);
      expect(events).toEqual(['start 1']);
      await pass(LEASE_MS / 3);
      expect(events).toEqual(['start 1', 'first', 'second']);
    });

    it('ENG-52 does not count a renewal from its answer, but from when it was asked for', async () => {
      const row = new HostRow();
      const { clock, sleep } = frozen();
      const { events, act } = holder(row, clock);
      await pass(1);
      const renew = row.renew.bind(row);
      row.renew = async (...asked) => {
        const answer = await renew(...asked);
        sleep(LEASE_MS + 1);
        return answer;
      };
      await pass(LEASE_MS / 3);
      void act('late');
      await pass(1);
      expect(events).toEqual(['start 1']);
      row.renew = renew;
      await pass(LEASE_MS / 3);
      expect(events).toEqual(['start 1', 'late']);
    });
  });

  it('ENG-14 is stopped within a second though Postgres is away', async () => {
    const row = new HostRow();
    const { made, events } = holder(row);
    await pass(1);
    row.reachable = false;
    const stopped = made.stop();
    await pass(1_000);
    await stopped;
    expect(events).toEqual(['start 1', 'end 1']);
  });

  it('ENG-15 ends everything before it lets go', async () => {
    const row = new HostRow();
    const { made, events } = holder(row);
    await pass(1);
    await made.shutDown();
    expect(events).toEqual(['start 1', 'shut down 1', 'end 1']);
    expect(row.holder).toBeUndefined();
  });
});
