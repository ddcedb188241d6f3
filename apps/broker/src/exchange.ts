// One request to the broker from its head to its last byte: who asks, what for, whether it may, and then the forwarder.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TokenDirectory, TokenOwner } from '#domain';
import { AppError, type Clock, toAppError } from '#kernel';
import type { BrokerMetrics } from './broker-metrics.js';
import type { StreamSlots } from './callers/stream-slots.js';
import { forward, type Traffic } from './forwarder.js';
import { sendError } from './http/api-error.js';
import { fromRaw } from './http/header-list.js';
import { callerToken } from './http/header-policy.js';
import { parseTarget } from './http/request-target.js';
import { findRoute, type Provider } from './providers/provider.js';
import type { RequestLog } from './request-line.js';

export interface ExchangeParts {
  providers: ReadonlyMap<string, Provider>;
  directory: TokenDirectory;
  slots: StreamSlots;
  bodyLimitBytes: number;
  clock: Clock;
  metrics: BrokerMetrics;
  log: RequestLog;
}

export class Exchange {
  private readonly startedAt: number;
  private readonly traffic: Traffic = { bytesUp: 0, bytesDown: 0 };
  private provider: Provider | undefined;
  private route: string | undefined;
  private owner: TokenOwner | undefined;
  private error: AppError | undefined;

  constructor(
    private readonly parts: ExchangeParts,
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
  ) {
    this.startedAt = parts.clock.monotonicMs();
    parts.metrics.started();
    response.once('close', () => this.finish());
  }

  /** Never rejects: every failure becomes an answer, or a broken connection once an answer has begun. */
  async run(): Promise<void> {
    try {
      await this.serve();
    } catch (thrown) {
      this.error = toAppError(thrown);
      sendError(this.response, this.error);
    }
  }

  private async serve(): Promise<void> {
    const { providers, slots, bodyLimitBytes } = this.parts;
    const { request, response } = this;
    const target = parseTarget(request.url ?? '');
    const owner = await this.authenticate();
    this.provider = providers.get(target.provider);
    if (this.provider === undefined) throw new AppError('broker.provider_unknown', 'There is no such provider.');
    this.route = findRoute(this.provider, request.method ?? '', target.path).name;
    if (response.destroyed) return;
    const release = slots.take(owner.processId);
    response.once('close', release);
    await forward({
      request,
      response,
      provider: this.provider,
      path: target.path + target.query,
      bodyLimitBytes,
      traffic: this.traffic,
    });
  }

  private async authenticate(): Promise<TokenOwner> {
    const token = callerToken(fromRaw(this.request.rawHeaders));
    this.owner = token === undefined ? undefined : await this.parts.directory.findOwner(token);
    if (this.owner === undefined) {
      throw new AppError(
        'broker.unauthorized',
        'This is not the token of a running process: it is made per process, and ends with it.',
      );
    }
    return this.owner;
  }

  private finish(): void {
    const { metrics, log, clock } = this.parts;
    const durationMs = clock.monotonicMs() - this.startedAt;
    const provider = this.provider?.name ?? 'none';
    const status = this.response.headersSent ? this.response.statusCode : 0;
    metrics.finished({ provider, status, seconds: durationMs / 1000, ...this.traffic });
    log.write({
      method: this.request.method ?? '',
      provider,
      route: this.route,
      status,
      durationMs,
      ...this.traffic,
      owner: this.owner,
      callerLeft: this.error === undefined && !this.response.writableFinished,
      error: this.error,
    });
  }
}
