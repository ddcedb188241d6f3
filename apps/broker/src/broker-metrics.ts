// The broker's numbers for Prometheus. Labels are providers and statuses only: a sandbox can read this page too.
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

export interface FinishedRequest {
  /** `none` for requests that named no known provider. */
  provider: string;
  status: number;
  seconds: number;
  bytesUp: number;
  bytesDown: number;
}

/** Up to the longest answers of a model. */
const BUCKETS_S = [0.05, 0.25, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800];

/** A registry of its own per instance, so that several brokers fit in one process (tests). */
export class BrokerMetrics {
  private readonly registry = new Registry();
  private readonly requests: Counter<'provider' | 'status'>;
  private readonly durations: Histogram<'provider'>;
  private readonly bytes: Counter<'provider' | 'direction'>;
  private readonly active: Gauge;
  private readonly dropped: Counter;

  constructor() {
    this.registry.setDefaultLabels({ service: 'broker' });
    const registers = [this.registry];
    this.requests = new Counter({
      name: 'gantry_broker_requests_total',
      help: 'Requests by provider and the HTTP status that the caller got; 0: the caller left before one.',
      labelNames: ['provider', 'status'],
      registers,
    });
    this.durations = new Histogram({
      name: 'gantry_broker_request_duration_seconds',
      help: 'Time from the head of a request to the last byte of its answer.',
      labelNames: ['provider'],
      buckets: BUCKETS_S,
      registers,
    });
    this.bytes = new Counter({
      name: 'gantry_broker_bytes_total',
      help: 'Bytes of bodies, up to providers and down to callers.',
      labelNames: ['provider', 'direction'],
      registers,
    });
    this.active = new Gauge({ name: 'gantry_broker_active_requests', help: 'Requests under way.', registers });
    this.dropped = new Counter({
      name: 'gantry_broker_dropped_connections_total',
      help: 'Connections refused because too many were open.',
      registers,
    });
  }

  started(): void {
    this.active.inc();
  }

  finished({ provider, status, seconds, bytesUp, bytesDown }: FinishedRequest): void {
    this.active.dec();
    this.requests.inc({ provider, status });
    this.durations.observe({ provider }, seconds);
    this.bytes.inc({ provider, direction: 'up' }, bytesUp);
    this.bytes.inc({ provider, direction: 'down' }, bytesDown);
  }

  connectionDropped(): void {
    this.dropped.inc();
  }

  /** The page in Prometheus text format, with its content type. */
  async render(): Promise<{ contentType: string; body: string }> {
    return { contentType: this.registry.contentType, body: await this.registry.metrics() };
  }
}
