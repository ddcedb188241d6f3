// The numbers that Gantry shows to Prometheus, each declared once with its labels.
import type { ErrorCode, FinalRunStatus, RunKind, RunStatus } from '#kernel';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** How many runs of a host are in a state, as Postgres says (BullMQ holds only what is dispatched). */
export interface QueueDepth {
  hostId: string;
  state: RunStatus;
  count: number;
  /** Since the oldest of them was queued. */
  oldestSeconds?: number;
}

/** What is stored. */
export interface Storage {
  databaseBytes: number;
  /** Stored output of commands. */
  outputBytes: number;
  events: number;
}

/** Free space of a disk; `disk` says what lies on it. */
export interface Disk {
  disk: string;
  freeBytes: number;
  totalBytes: number;
}

export interface MetricsOptions {
  /** The process that speaks; a label on every series. */
  service: string;
  /** Read at every scrape. If it throws, the old depths are dropped and the scrape goes on (OBS-9). */
  readQueueDepth?: () => Promise<readonly QueueDepth[]>;
  /** Read at every scrape, like the depths. */
  readStorage?: () => Promise<Storage>;
  readDisks?: () => Promise<readonly Disk[]>;
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
export function createMetrics(options: MetricsOptions): Metrics {
  const { service, readQueueDepth, readStorage, readDisks, processMetrics = true } = options;
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
  const failures = new Counter({
    name: 'gantry_scrape_failures_total',
    help: 'Scrapes at which a source of numbers could not be read.',
    labelNames: ['source'] as const,
    registers,
  });
  const failed = (source: string) => failures.inc({ source });
  if (readQueueDepth !== undefined) registerQueueDepth(registry, readQueueDepth, failed);
  if (readStorage !== undefined) registerStorage(registry, readStorage, failed);
  if (readDisks !== undefined) registerDisks(registry, readDisks, failed);

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

/** The database being away must not take the other numbers with it: a counter says that it happened. */
type Failed = (source: string) => void;

interface GaugeSpec<T, L extends string> {
  name: string;
  help: string;
  labelNames?: readonly L[];
  set: (gauge: Gauge<L>, value: T) => void;
}

/** Gauges of one source, which is asked once per scrape; they are empty when asking failed. */
function registerGauges<T, L extends string>(
  registry: Registry,
  read: () => Promise<T>,
  specs: readonly GaugeSpec<T, L>[],
  failed: () => void,
): void {
  let asking: Promise<T | undefined> | undefined;
  const ask = (): Promise<T | undefined> => {
    asking ??= read()
      .catch(() => {
        failed();
        return undefined;
      })
      .finally(() => {
        asking = undefined;
      });
    return asking;
  };
  for (const { name, help, labelNames = [], set } of specs) {
    const gauge: Gauge<L> = new Gauge<L>({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        // Without labels `reset` would leave a zero.
        if (labelNames.length === 0) gauge.remove();
        else gauge.reset();
        const value = await ask();
        if (value !== undefined) set(gauge, value);
      },
    });
  }
}

function registerQueueDepth(registry: Registry, read: () => Promise<readonly QueueDepth[]>, failed: Failed): void {
  const labelNames = ['host', 'state'] as const;
  const specs: GaugeSpec<readonly QueueDepth[], 'host' | 'state'>[] = [
    {
      name: 'gantry_queue_depth',
      help: 'Runs by host and state, read from the database at each scrape.',
      labelNames,
      set: (gauge, rows) => {
        for (const { hostId: host, state, count } of rows) gauge.set({ host, state }, count);
      },
    },
    {
      name: 'gantry_queue_oldest_seconds',
      help: 'Time since the oldest run of a host in a state was queued.',
      labelNames,
      set: (gauge, rows) => {
        for (const { hostId: host, state, oldestSeconds = 0 } of rows) gauge.set({ host, state }, oldestSeconds);
      },
    },
  ];
  registerGauges(registry, read, specs, () => failed('queue_depth'));
}

function registerStorage(registry: Registry, read: () => Promise<Storage>, failed: Failed): void {
  const of = (name: string, help: string, key: keyof Storage): GaugeSpec<Storage, never> => ({
    name,
    help,
    set: (gauge, storage) => gauge.set(storage[key]),
  });
  const specs = [
    of('gantry_database_bytes', 'Size of the database, read at each scrape.', 'databaseBytes'),
    of('gantry_output_bytes', 'Stored output of commands.', 'outputBytes'),
    of('gantry_events', 'Stored events.', 'events'),
  ];
  registerGauges(registry, read, specs, () => failed('storage'));
}

function registerDisks(registry: Registry, read: () => Promise<readonly Disk[]>, failed: Failed): void {
  const of = (name: string, help: string, key: 'freeBytes' | 'totalBytes'): GaugeSpec<readonly Disk[], 'disk'> => ({
    name,
    help,
    labelNames: ['disk'],
    set: (gauge, disks) => {
      for (const each of disks) gauge.set({ disk: each.disk }, each[key]);
    },
  });
  const specs = [
    of('gantry_disk_free_bytes', 'Free space of a disk that Gantry writes to.', 'freeBytes'),
    of('gantry_disk_size_bytes', 'Size of a disk that Gantry writes to.', 'totalBytes'),
  ];
  registerGauges(registry, read, specs, () => failed('disks'));
}
