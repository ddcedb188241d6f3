import type { EngineInfo, HostLease } from '#domain';
import { AppError, newId, systemClock } from '#kernel';
import { createLogger } from '#observability';
import { LeaseHolder } from './lease-holder.js';

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

function holder(row: HostRow) {
  const events: string[] = [];
  const tenure = (lease: HostLease) => ({
    start: async () => void events.push(`start ${lease.epoch}`),
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
    clock: systemClock,
    logger,
  });
  made.start();
  return { made, events };
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
