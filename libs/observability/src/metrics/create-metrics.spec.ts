// The metrics page as Prometheus reads it.
import type { QueueDepth } from './create-metrics.js';
import { createMetrics } from './create-metrics.js';

describe('createMetrics', () => {
  it('OBS-8 shows waits, durations, connections, events, fenced writes and errors with their labels', async () => {
    const metrics = createMetrics({ service: 'worker', processMetrics: false });
    metrics.observeRunWait('prompt', 0.2);
    metrics.observeRunDuration('command', 'succeeded', 3);
    metrics.connectionOpened();
    metrics.connectionOpened();
    metrics.connectionClosed();
    metrics.eventsCommitted(7);
    metrics.writeFenced('database');
    metrics.errorSeen('write.fenced');
    const { body, contentType } = await metrics.render();
    expect(contentType).toContain('version=0.0.4');
    expect(body).toContain('gantry_run_wait_seconds_bucket{le="0.5",service="worker",kind="prompt"} 1');
    expect(body).toContain('gantry_run_duration_seconds_sum{service="worker",kind="command",status="succeeded"} 3');
    expect(body).toContain('gantry_connections{service="worker"} 1');
    expect(body).toContain('gantry_events_committed_total{service="worker"} 7');
    expect(body).toContain('gantry_fenced_writes_total{target="database",service="worker"} 1');
    expect(body).toContain('gantry_errors_total{code="write.fenced",service="worker"} 1');
  });

  it('OBS-8 reads queue depths at each scrape and forgets states that are gone', async () => {
    let rows: QueueDepth[] = [{ hostId: 'h1', state: 'queued', count: 3 }];
    const metrics = createMetrics({ service: 'gateway', processMetrics: false, readQueueDepth: async () => rows });
    expect((await metrics.render()).body).toContain('gantry_queue_depth{host="h1",state="queued",service="gateway"} 3');
    rows = [{ hostId: 'h1', state: 'running', count: 1 }];
    const { body } = await metrics.render();
    expect(body).toContain('state="running",service="gateway"} 1');
    expect(body).not.toContain('state="queued"');
  });

  it('RET-15 shows what is stored, what disks have left, and how long the oldest run of each queue waits', async () => {
    let away = false;
    const metrics = createMetrics({
      service: 'gateway',
      processMetrics: false,
      readQueueDepth: async () => [{ hostId: 'h1', state: 'queued', count: 3, oldestSeconds: 1.5 }],
      readStorage: async () => {
        if (away) throw new Error('no database');
        return { databaseBytes: 10, outputBytes: 20, events: 30 };
      },
      readDisks: async () => [{ disk: 'data', freeBytes: 40, totalBytes: 50 }],
    });
    const { body } = await metrics.render();
    expect(body).toContain('gantry_queue_oldest_seconds{host="h1",state="queued",service="gateway"} 1.5');
    expect(body).toContain('gantry_database_bytes{service="gateway"} 10');
    expect(body).toContain('gantry_output_bytes{service="gateway"} 20');
    expect(body).toContain('gantry_events{service="gateway"} 30');
    expect(body).toContain('gantry_disk_free_bytes{disk="data",service="gateway"} 40');
    expect(body).toContain('gantry_disk_size_bytes{disk="data",service="gateway"} 50');
    away = true;
    await metrics.render();
    const later = (await metrics.render()).body;
    expect(later).not.toContain('gantry_database_bytes{');
    expect(later).toContain('gantry_disk_free_bytes{');
    expect(later).toMatch(/gantry_scrape_failures_total\{.*source="storage".*\} [12]/);
  });

  it('OBS-9 still shows everything else when the database cannot be read, and counts it', async () => {
    let away = false;
    const readQueueDepth = async (): Promise<QueueDepth[]> => {
      if (away) throw new Error('no database');
      return [{ hostId: 'h1', state: 'queued', count: 3 }];
    };
    const metrics = createMetrics({ service: 'gateway', processMetrics: false, readQueueDepth });
    metrics.connectionOpened();
    await metrics.render();
    away = true;
    await metrics.render();
    const { body } = await metrics.render();
    expect(body).toContain('gantry_connections{service="gateway"} 1');
    expect(body).not.toContain('state="queued"');
    expect(body).toMatch(/gantry_scrape_failures_total\{.*source="queue_depth".*\} [12]/);
  });

  it('OBS-8 keeps two registries of one process apart and adds process metrics by default', async () => {
    const first = createMetrics({ service: 'a' });
    const second = createMetrics({ service: 'b' });
    first.eventsCommitted(1);
    expect((await second.render()).body).toContain('gantry_events_committed_total{service="b"} 0');
    expect((await first.render()).body).toContain('process_cpu_seconds_total{service="a"}');
  });
});
