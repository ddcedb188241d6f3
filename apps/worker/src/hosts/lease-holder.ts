// Holds the lease of one Docker engine: takes it when it is free, renews it, and lets everything go the moment it is lost (R4).
import type { EngineInfo, HostLease, HostStore } from '#domain';
import { type AppError, type Clock, toAppError } from '#kernel';
import { logError, type Logger } from '#observability';
import { pause } from '../timing/pause.js';
import { within } from '../timing/within.js';
import type { EngineProbe } from './engine-probe.js';
import { LeaseTerm } from './lease-term.js';

/** What lives exactly as long as the lease is held. */
export interface Tenure {
  start(): Promise<void>;
  /** Lets go of everything, at once. Never rejects. */
  end(): Promise<void>;
  /** Ends every run and stops every sandbox: the installation goes down for good. Never rejects. */
  shutDown(): Promise<void>;
}

export interface LeaseHolderParts {
  hosts: Pick<HostStore, 'acquire' | 'renew' | 'release'>;
  probe: Pick<EngineProbe, 'proven'>;
  holderId: string;
  leaseMs: number;
  maxRuns: number;
  projectRoots: string[];
  makeTenure: (lease: HostLease, term: LeaseTerm) => Tenure;
  clock: Clock;
  logger: Logger;
}

const RELEASE_DEADLINE_MS = 1_000;

export class LeaseHolder {
  private readonly stopped = new AbortController();
  private readonly intervalMs: number;
  private loop: Promise<void> | undefined;
  private held: { lease: HostLease; tenure: Tenure } | undefined;
  /** Why the lease could not even be asked for. */
  private problem: AppError | undefined;
  private goingDown = false;

  constructor(private readonly parts: LeaseHolderParts) {
    this.intervalMs = Math.ceil(parts.leaseMs / 3);
  }

  start(): void {
    this.loop = this.run();
  }

  /** The lease, while it is held. */
  get lease(): HostLease | undefined {
    return this.held?.lease;
  }

  /** For readiness: a holder and a standby are both well; one that cannot reach Postgres is not. */
  check(): void {
    if (this.problem !== undefined) throw this.problem;
  }

  /** Lets go of all runs and releases the lease, so that a standby has it at once. */
  async stop(): Promise<void> {
    this.stopped.abort();
    await this.loop;
  }

  /** Ends all runs first: the installation goes down for good. */
  async shutDown(): Promise<void> {
    this.goingDown = true;
    await this.stop();
  }

  private async run(): Promise<void> {
    const { signal } = this.stopped;
    while (!signal.aborted) {
      const engine = await this.parts.probe.proven(signal);
      if (engine === undefined) return;
      const term = new LeaseTerm(this.parts.leaseMs, this.parts.clock);
      const lease = await this.tryAcquire(engine, term);
      if (lease === undefined) await pause(this.intervalMs, signal);
      else await this.hold(lease, term);
    }
  }

  private async tryAcquire(engine: EngineInfo, term: LeaseTerm): Promise<HostLease | undefined> {
    const { hosts, holderId, leaseMs, maxRuns, projectRoots, logger } = this.parts;
    const { engineId, version, cpus, memoryBytes, liveRestore } = engine;
    const info = { version, cpus, memory_bytes: memoryBytes, live_restore: liveRestore };
    const asked = this.parts.clock.monotonicMs();
    try {
      const lease = await hosts.acquire({ engineId, holderId, leaseMs, maxRuns, projectRoots, info });
      if (lease !== undefined) term.renewed(asked);
      this.problem = undefined;
      return lease;
    } catch (error) {
      if (this.problem === undefined) logError(logger, error, { doing: 'acquire lease' });
      this.problem = toAppError(error);
      return undefined;
    }
  }

  private async hold(lease: HostLease, term: LeaseTerm): Promise<void> {
    const { makeTenure, logger, hosts } = this.parts;
    const tenure = makeTenure(lease, term);
    this.held = { lease, tenure };
    logger.info({ host_id: lease.hostId, host_epoch: lease.epoch }, 'lease taken');
    const over = new AbortController();
    const kept = this.keep(lease, term, AbortSignal.any([this.stopped.signal, over.signal]));
    const started = tenure.start().catch((error: unknown) => {
      logError(logger, error, { doing: 'start tenure' });
      over.abort();
    });
    let lost = await kept;
    if (!lost && this.goingDown) lost = await this.endEverything(lease, term, tenure);
    // What still waits for a lease that is lost is let go; one that leaves by itself ends what it is at first.
    if (lost) term.end();
    await started;
    await tenure.end();
    term.end();
    this.held = undefined;
    logger.info({ host_id: lease.hostId, host_epoch: lease.epoch, lost }, 'lease let go');
    if (lost) return;
    await within(RELEASE_DEADLINE_MS, hosts.release(lease), (error) => logError(logger, error, { doing: 'release' }));
  }

  /** The lease is renewed while runs come to their end. True when it was lost meanwhile. */
  private async endEverything(lease: HostLease, term: LeaseTerm, tenure: Tenure): Promise<boolean> {
    const over = new AbortController();
    const kept = this.keep(lease, term, over.signal);
    await Promise.race([tenure.shutDown(), kept]);
    over.abort();
    return kept;
  }

  /** Renews until the signal is aborted (false) or the lease is lost (true). */
  private async keep(lease: HostLease, term: LeaseTerm, signal: AbortSignal): Promise<boolean> {
    const { clock, logger } = this.parts;
    for (;;) {
      await pause(this.intervalMs, signal);
      if (signal.aborted) return false;
      const asked = clock.monotonicMs();
      const renewed = await this.renewWithin(lease, Math.max(this.intervalMs, term.remainingMs));
      if (renewed === true) term.renewed(asked);
      else if (renewed === false || !term.isRunning) {
        logger.warn({ host_id: lease.hostId, host_epoch: lease.epoch, taken_over: renewed === false }, 'lease lost');
        return true;
      }
    }
  }

  /** Undefined when Postgres did not answer in time: the lease may still be ours. */
  private async renewWithin(lease: HostLease, ms: number): Promise<boolean | undefined> {
    let renewed: boolean | undefined;
    const asking = this.parts.hosts.renew(lease, this.parts.leaseMs).then((answer) => {
      renewed = answer;
    });
    await within(ms, asking, (error) => logError(this.parts.logger, error, { doing: 'renew lease' }));
    return renewed;
  }
}
