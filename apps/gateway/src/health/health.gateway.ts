// Client events about the service itself.
import { Inject, Injectable } from '@nestjs/common';
import type { HostStore } from '#domain';
import { toAppError } from '#kernel';
import { HealthRegistry } from '#observability';
import type { ClientData } from '#protocol';
import { type FeatureSettings, PORT, SETTINGS } from '../ports.js';
import { describeLowDisks } from '../stats/low-disks.js';
import { StatsFeed } from '../stats/stats-feed.js';
import type { EventHandlers } from '../transport/request-context.js';
import { POSTGRES_CHECK } from './readiness.js';

type Answer = ClientData<'health'>;
type Check = Answer['checks'][string];

@Injectable()
export class HealthGateway {
  readonly handlers: EventHandlers<'health' | 'ping'> = {
    health: () => this.health(),
    ping: async () => ({ server_time: new Date().toISOString() }),
  };

  constructor(
    private readonly registry: HealthRegistry,
    @Inject(PORT.hosts) private readonly hosts: HostStore,
    @Inject(SETTINGS) private readonly settings: FeatureSettings,
    private readonly stats: StatsFeed,
  ) {}

  /** `down`: nothing can be stored. `degraded`: something else is missing, e.g. live updates, or a worker for new runs. */
  private async health(): Promise<Answer> {
    const report = await this.registry.report('readiness');
    const checks: Record<string, Check> = Object.fromEntries(
      Object.entries(report.checks).map(([name, { status, error }]): [string, Check] => [
        name,
        { ok: status === 'ok', ...(error === undefined ? {} : { message: error.message }) },
      ]),
    );
    checks['workers'] = await this.workers();
    checks['disk'] = this.disk();
    const failed = Object.entries(checks).filter(([, { ok }]) => !ok);
    const down = failed.some(([name]) => name === POSTGRES_CHECK);
    return {
      status: down ? 'down' : failed.length > 0 ? 'degraded' : 'ok',
      checks,
      version: this.settings.version,
      uptime_ms: Math.round(process.uptime() * 1000),
    };
  }

  private disk(): Check {
    const { lowDisks } = this.stats;
    return lowDisks.length === 0 ? { ok: true } : { ok: false, message: describeLowDisks(lowDisks) };
  }

  /** Not part of readiness: a gateway without a worker still takes work, which waits. */
  private async workers(): Promise<Check> {
    try {
      const hosts = await this.hosts.list();
      if (!hosts.some(({ held }) => held)) return { ok: false, message: 'No worker holds a host: runs wait.' };
      const lost = hosts.filter(({ lostAt }) => lostAt !== null);
      if (lost.length === 0) return { ok: true };
      const names = lost.map(({ hostId, lostAt }) => `${hostId} (since ${lostAt?.toISOString()})`).join(', ');
      return { ok: false, message: `host.unavailable: no worker holds ${names}; what is queued there waits.` };
    } catch (error) {
      return { ok: false, message: toAppError(error).message };
    }
  }
}
