// The numbers that Gantry shows to Prometheus, each declared once with its labels.
import type { ErrorCode, FinalRunStatus, RunKind, RunStatus } from '#kernel';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** How many runs of a host are in a state, as Postgres says (BullMQ holds only what is dispatched). */
export interface QueueDepth {
  hostId: string;
  state: RunStatus;
  count: number;
}

export interface MetricsOptions {
  /** The process that speaks; a label on every series. */
  service: string;
  /** Read at every scrape. If it throws, the old depths are dropped and the scrape goes on (OBS-9). */
  readQueueDepth?: () => Promise<readonly QueueDepth[]>;
  /** Event loop, memory and garbage collection of the process. On unless told otherwise. */
  processMetrics?: boolean;
}

export interface Metrics {
  /** Time from acceptance to a worker, in seconds. */
  observeRunWait(kind: RunKind, seconds: number): void;
  /** Active time of a finished run, in seconds. */
  observeRunDuration(kind: RunKind, status: FinalRunStatus, seconds: number): void;
  connectionOpened(): void;
  connectionClosed(): void;
  eventsCommitted(count: number): void;
  /** A write that carried an old epoch and so changed nothing. `target` is what refused it. */
  writeFenced(target: 'database' | 'sandbox'): void;
  errorSeen(code: ErrorCode): void;
  /** The page in Prometheus text format 0.0.4, with its content type. */
  render(): Promise<{ contentType: string; body: string }>;
}

const WAIT_BUCKETS_S = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1800];
const DURATION_BUCKETS_S = [0.05, 0.1, 0.5, 1, 5, 15, 60, 180, 300, 900, 3600];

/** A registry of its own per call, so that two processes in one test do not meet. */
export function createMetrics({ service, readQueueDepth, processMetrics = true }: MetricsOptions): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  const registers = [registry];
  if (processMetrics) collectDefaultMetrics({ register: registry });

  const runWait = new Histogram({
    name: 'gantry_run_wait_seconds',
    help: 'Time a run waited from acceptance until a worker took it.',
    labelNames: ['kind'] as const,
    buckets: WAIT_BUCKETS_S,
    registers,
  });
  const runDuration = new Histogram({
    name: 'gantry_run_duration_seconds',
    help: 'Active time of finished runs.',
    labelNames: ['kind', 'status'] as const,
    buckets: DURATION_BUCKETS_S,
    registers,
  });
  const connections = new Gauge({ name: 'gantry_connections', help: 'Open client connections.', registers });
  const events = new Counter({ name: 'gantry_events_committed_total', help: 'Durable events committed.', registers });
  const fenced = new Counter({
    name: 'gantry_fenced_writes_total',
    help: 'Writes refused because their epoch was old.',
    labelNames: ['target'] as const,
    registers,
  });
  const errors = new Counter({
    name: 'gantry_errors_total',
    help: 'Errors by their code.',
    labelNames: ['code'] as const,
    registers,
  });
  if (readQueueDepth !== undefined) registerQueueDepth(registry, readQueueDepth);

  return {
    observeRunWait: (kind, seconds) => runWait.observe({ kind }, seconds),
    observeRunDuration: (kind, status, seconds) => runDuration.observe({ kind, status }, seconds),
    connectionOpened: () => connections.inc(),
    connectionClosed: () => connections.dec(),
    eventsCommitted: (count) => events.inc(count),
    writeFenced: (target) => fenced.inc({ target }),
    errorSeen: (code) => errors.inc({ code }),
    render: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
}

function registerQueueDepth(registry: Registry, read: () => Promise<readonly QueueDepth[]>): void {
  const registers = [registry];
  const failures = new Counter({
    name: 'gantry_scrape_failures_total',
    help: 'Scrapes at which a source of numbers could not be read.',
    labelNames: ['source'] as const,
    registers,
  });
  const depth = new Gauge({
    name: 'gantry_queue_depth',
    help: 'Runs by host and state, read from the database at each scrape.',
    labelNames: ['host', 'state'] as const,
    registers,
    async collect() {
      depth.reset();
      try {
        for (const row of await read()) depth.set({ host: row.hostId, state: row.state }, row.count);
      } catch {
        // The database being away must not take the other numbers with it; the counter says that it happened.
        failures.inc({ source: 'queue_depth' });
      }
    },
  });
}
