// All that this worker does while it holds the lease of a host: takes jobs, answers gateways, follows intents, reconciles.
import type { HostLease } from '#domain';
import type { RunWorker } from '#jobs';
import { logError } from '#observability';
import { hostRequestHandlers } from '../projects/host-requests.js';
import { ProjectRemover } from '../projects/remove-project.js';
import { Reconciler } from '../reconcile/reconciler.js';
import { SandboxSweep } from '../reconcile/sandbox-sweep.js';
import { RetentionSweep } from '../retention/retention-sweep.js';
import { IntentWatcher } from '../runs/intent-watcher.js';
import { RunAttachment } from '../runs/run-attachment.js';
import { RunRegistry } from '../runs/run-registry.js';
import { RunSlots } from '../runs/run-slots.js';
import { createRunProcessor } from '../runs/run.processor.js';
import { IdleSandboxes } from '../sandboxes/idle-sandboxes.js';
import { SandboxKeeper } from '../sandboxes/sandbox-keeper.js';
import { every, type Repeated } from '../timing/every.js';
import { within } from '../timing/within.js';
import type { RunDrivers, WorkerParts } from '../worker-parts.js';
import { HostLoadMeter } from './host-load.js';
import type { Tenure } from './lease-holder.js';
import type { LeaseTerm } from './lease-term.js';

/** What a commit that is under way may take when everything is let go; then connections are cut. */
const DETACH_MS = 1_500;
const CLOSE_MS = 1_500;
/** What runs may take to end when the installation goes down. */
const STOP_RUNS_MS = 25_000;
const STOP_SANDBOXES_MS = 20_000;
/** Between two looks for agents and sandboxes that are idle for too long. */
const IDLE_SWEEP_MS = 5_000;
const LOAD_MS = 5_000;
/** No proof of a worker, and no look at an image, takes that long. */
const LEFTOVER_MS = 120_000;

export class HostTenure implements Tenure {
  private readonly registry: RunRegistry;
  private readonly sandboxes: SandboxKeeper;
  private readonly drivers: RunDrivers;
  private readonly intents: IntentWatcher;
  private readonly remover: ProjectRemover;
  private readonly reconciler: Reconciler;
  private readonly retention: RetentionSweep;
  private readonly idle: IdleSandboxes;
  private jobs: RunWorker | undefined;
  private server: { close(): Promise<void> } | undefined;
  private sweeping: Repeated | undefined;
  private measuring: Repeated | undefined;
  private ending = false;

  constructor(
    private readonly parts: WorkerParts,
    private readonly lease: HostLease,
    term: LeaseTerm,
  ) {
    const { hostId } = lease;
    const { executions, control, announcer, bus, queue, projects, runtime, settings, clock, logger, metrics } = parts;
    const announce = ({ announcement }: Parameters<SandboxKeeper['parts']['announce']>[0]) =>
      announcer.announce(announcement);
    const { image, limits, maxRuns, bounds, reconcileMs } = settings;
    this.sandboxes = new SandboxKeeper({
      lease,
      term,
      runtime,
      executions,
      events: parts.spares,
      announce,
      image,
      limits,
      clock,
      logger,
    });
    this.drivers = parts.makeDrivers(this.sandboxes);
    const attachmentParts = {
      lease,
      executions,
      control,
      runs: parts.runs,
      announcer,
      bus,
      sandboxes: this.sandboxes,
      drivers: this.drivers.byKind,
      slots: new RunSlots(maxRuns),
      bounds,
      clock,
      logger,
      metrics,
    };
    this.registry = new RunRegistry((dispatch) => new RunAttachment(attachmentParts, dispatch));
    this.intents = new IntentWatcher({ hostId, executions, bus, registry: this.registry, logger });
    this.remover = new ProjectRemover({
      hostId,
      projects,
      runtime,
      disconnect: (sandboxId) => this.sandboxes.disconnect(sandboxId),
    });
    this.reconciler = new Reconciler({
      hostId,
      intervalMs: reconcileMs,
      parkAfterMs: settings.parkAfterMs,
      executions,
      queue,
      announcer,
      registry: this.registry,
      sweep: this.sandboxSweep(),
      removeDeleted: () =>
        this.remover.removeAll((projectId, error) =>
          logError(logger, error, { doing: 'remove project', project_id: projectId }),
        ),
      removeLeftovers: () => runtime.removeLeftovers({ olderThanMs: LEFTOVER_MS }),
      logger,
    });
    this.idle = new IdleSandboxes({
      store: parts.sandboxStore,
      runtime,
      connectionTo: (sandboxId) => this.sandboxes.connectionTo(sandboxId),
      disconnect: (sandboxId) => this.sandboxes.disconnect(sandboxId),
      stillHeld: () => this.stillHeld(),
      idleMs: settings.sandboxIdleMs,
      logger,
    });
    this.retention = new RetentionSweep({
      hostId,
      retention: parts.retention,
      limits: settings.retention,
      intervalMs: settings.retention.sweepMs,
      logger,
    });
  }

  async start(): Promise<void> {
    const { lease, parts } = this;
    const handlers = hostRequestHandlers({
      projectRoots: parts.settings.projectRoots,
      remover: this.remover,
      wake: (projectId) => this.wake(projectId),
    });
    this.server = await parts.hostServer.serve(lease.hostId, handlers);
    if (this.ending) return this.server.close();
    this.jobs = parts.takeJobs(lease.hostId, createRunProcessor(this.registry));
    this.intents.start();
    this.reconciler.start();
    this.retention.start();
    this.measuring = this.reportLoad();
    this.sweeping = every(
      IDLE_SWEEP_MS,
      async () => {
        await this.drivers.sweep(lease);
        await this.idle.sweep(lease);
      },
      (error) => logError(parts.logger, error, { doing: 'sweep what is idle' }),
    );
  }

  /** Redis is back: what it lost is found now instead of with the next turn. */
  reconcileSoon(): void {
    this.reconciler.nudge();
  }

  async end(): Promise<void> {
    this.ending = true;
    const detached = this.registry.detachAll();
    this.drivers.close();
    await this.bounded(DETACH_MS, 'detach runs', detached);
    await this.bounded(CLOSE_MS, 'close connections', this.sandboxes.close());
    await Promise.all([
      this.bounded(CLOSE_MS, 'detach runs', detached),
      this.bounded(CLOSE_MS, 'stop taking work', this.stopTaking()),
    ]);
  }

  async shutDown(): Promise<void> {
    this.ending = true;
    await this.bounded(CLOSE_MS, 'stop taking work', this.stopTaking());
    await this.bounded(STOP_RUNS_MS, 'stop runs', this.registry.stopAll({ kind: 'shutdown' }));
    await this.bounded(CLOSE_MS, 'close connections', this.sandboxes.close());
    await this.bounded(STOP_SANDBOXES_MS, 'stop sandboxes', this.stopSandboxes());
  }

  /** Somebody looks at the project: what its next prompt needs is made ready meanwhile. */
  private async wake(projectId: string): Promise<void> {
    const project = await this.parts.projects.find(projectId);
    if (project === undefined || project.deleting || this.ending) return;
    void this.drivers.wake(project, this.lease);
  }

  /** What gateways show of this host, and warn of. */
  private reportLoad(): Repeated {
    const { settings, usage, logger } = this.parts;
    const meter = new HostLoadMeter(settings);
    return every(
      LOAD_MS,
      async () => usage.reportLoad(this.lease, await meter.measure()),
      (error) => logError(logger, error, { doing: 'report load' }),
    );
  }

  private sandboxSweep(): SandboxSweep {
    const { runtime, executions, projects, logger } = this.parts;
    return new SandboxSweep({
      lease: this.lease,
      runtime,
      executions,
      projects,
      connectionTo: (sandboxId) => this.sandboxes.connectionTo(sandboxId),
      attendedProjects: () => this.registry.all().map(({ dispatch }) => dispatch.projectId),
      stillHeld: () => this.stillHeld(),
      logger,
    });
  }

  private async stillHeld(): Promise<boolean> {
    return !this.ending && (await this.parts.hosts.renew(this.lease, this.parts.settings.leaseMs));
  }

  /** No job, request, intent or repair is begun after this. */
  private async stopTaking(): Promise<void> {
    const stopping = [this.jobs?.close(), this.server?.close(), this.reconciler.stop(), this.sweeping?.stop()];
    await Promise.all([...stopping, this.retention.stop(), this.measuring?.stop(), this.intents.stop()]);
  }

  private async stopSandboxes(): Promise<void> {
    const { runtime, logger } = this.parts;
    const running = (await runtime.list()).filter(({ state }) => state === 'running');
    await Promise.all(
      running.map(async ({ sandboxId }) => {
        try {
          await runtime.stop(sandboxId);
        } catch (error) {
          logError(logger, error, { doing: 'stop sandbox', sandbox_id: sandboxId });
        }
      }),
    );
  }

  private async bounded(ms: number, doing: string, work: Promise<unknown>): Promise<void> {
    const { logger } = this.parts;
    const inTime = await within(ms, work, (error) => logError(logger, error, { doing }));
    if (!inTime) logger.warn({ doing, deadline_ms: ms }, 'not done in time');
  }
}
