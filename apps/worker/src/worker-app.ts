// One worker: shows its status at once, takes up work when Postgres is there and Docker is proven, and leaves in good order.
// Several fit into one process.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { WorkerConfig } from '#config';
import type { SandboxRuntime } from '#domain';
import { AppError, type Clock, newId, systemClock } from '#kernel';
import {
  createMetrics,
  createStatusHandler,
  HealthRegistry,
  type Logger,
  logError,
  NestLoggerAdapter,
} from '#observability';
import { HostLoadMeter } from './hosts/host-load.js';
import { EngineProbe } from './hosts/engine-probe.js';
import { HostTenure } from './hosts/host-tenure.js';
import { LeaseHolder } from './hosts/lease-holder.js';
import { registerReadiness } from './status/readiness.js';
import { pause } from './timing/pause.js';
import { openBackend, type WorkerBackend } from './worker-backend.js';
import type { WorkerParts } from './worker-parts.js';
import { WorkerModule } from './worker.module.js';

export interface WorkerAppOptions {
  config: WorkerConfig;
  migrationsDir: string;
  logger: Logger;
  clock?: Clock;
  /** Docker, unless a test says otherwise. */
  makeRuntime?: (instance: string) => SandboxRuntime;
}

export interface WorkerApp {
  /** Resolves when the status port is open; work begins by itself. */
  listen(): Promise<{ port: number }>;
  /** Hands over: lets go of all runs, which go on in their sandboxes, and releases the lease (R4). */
  close(): Promise<void>;
  /** Goes down for good: runs end as `interrupted`, the sandboxes of this installation are stopped. */
  shutDown(): Promise<void>;
}

const RETRY_MS = 1_000;

/** What checks the host once Postgres was reached. */
interface Engine {
  probe: EngineProbe;
  holder: LeaseHolder;
}

export function createWorkerApp(options: WorkerAppOptions): WorkerApp {
  const { config, logger, clock = systemClock } = options;
  const { makeRuntime } = options;
  const backend = openBackend({ ...options, clock, ...(makeRuntime === undefined ? {} : { makeRuntime }) });
  const health = new HealthRegistry(clock);
  const meter = new HostLoadMeter(config);
  const metrics = createMetrics({
    service: 'worker',
    readQueueDepth: () => backend.queueDepth(),
    readDisks: () => meter.disks(),
  });
  const stopped = new AbortController();
  let engine: Engine | undefined;
  let server: INestApplication | undefined;
  let starting: Promise<void> = Promise.resolve();
  let closing: Promise<void> | undefined;

  const requireEngine = (): Engine => {
    if (engine === undefined) throw new AppError('service.unavailable', 'The worker is starting.');
    return engine;
  };
  registerReadiness(health, {
    pingDatabase: () => backend.pingDatabase(),
    isRedisReady: () => backend.isRedisReady(),
    checkEngine: async () => requireEngine().probe.check(),
    checkHost: () => requireEngine().holder.check(),
  });

  const bringUp = async () => {
    const ready = await waitForPostgres(backend, logger, stopped.signal);
    if (!ready) return;
    engine = startEngine(await backend.connect(metrics), clock);
  };
  const leave = (how: 'close' | 'shutDown') => {
    closing ??= (async () => {
      health.startDraining();
      stopped.abort();
      await starting;
      await (how === 'close' ? engine?.holder.stop() : engine?.holder.shutDown());
      await server?.close();
      await backend.close();
    })();
    return closing;
  };
  return {
    listen: async () => {
      // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- Nest's options are a class only by name
      server = await NestFactory.create(WorkerModule, { logger: new NestLoggerAdapter(logger) });
      server.use(createStatusHandler({ health, metrics, logger }));
      await server.listen(config.http.port, config.http.host);
      starting = bringUp().catch((error: unknown) => logError(logger, error, { doing: 'start' }));
      const { port } = (server.getHttpServer() as Server).address() as AddressInfo;
      return { port };
    },
    close: () => leave('close'),
    shutDown: () => leave('shutDown'),
  };
}

/** False when the signal was aborted first. Migrations are applied by others. */
async function waitForPostgres(backend: WorkerBackend, logger: Logger, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    try {
      const pending = await backend.pendingMigrations();
      if (pending.length === 0) return true;
      logger.warn({ pending }, 'waiting for the database to be migrated');
    } catch (error) {
      logError(logger, error, { doing: 'start' });
    }
    await pause(RETRY_MS, signal);
  }
  return false;
}

function startEngine(parts: WorkerParts, clock: Clock): Engine {
  const { runtime, settings, hosts, logger } = parts;
  const { image, leaseMs, maxRuns, projectRoots } = settings;
  const probe = new EngineProbe({ runtime, image, logger });
  let tenure: HostTenure | undefined;
  const holder = new LeaseHolder({
    hosts,
    probe,
    holderId: newId(),
    leaseMs,
    maxRuns,
    projectRoots,
    makeTenure: (lease, term) => (tenure = new HostTenure(parts, lease, term)),
    clock,
    logger,
  });
  parts.bus.onReconnect(() => tenure?.reconcileSoon());
  holder.start();
  return { probe, holder };
}
