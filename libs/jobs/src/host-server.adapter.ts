// The worker's end of the host channel: answers each request of a gateway once, errors by their code (R5).
import type { Redis } from 'ioredis';
import type { HostRequestHandlers, HostServer } from '#domain';
import { toAppError } from '#kernel';
import {
  handleHostRequest,
  type HostReplyMessage,
  type HostRequestMessage,
  readHostRequest,
  toWireError,
} from './host-message.schema.js';
import type { RedisKeys } from './redis-keys.js';
import type { RedisSubscriber } from './redis-subscriber.js';
import type { ReportProblem } from './report-problem.port.js';

export interface RedisHostServerOptions {
  /** A client of the role `commands`. */
  redis: Redis;
  subscriber: RedisSubscriber;
  keys: RedisKeys;
  report: ReportProblem;
}

export class RedisHostServer implements HostServer {
  constructor(private readonly options: RedisHostServerOptions) {}

  /** Does not wait for Redis: requests are answered whenever it is there. `close` waits for the answers under way. */
  async serve(hostId: string, handlers: HostRequestHandlers): Promise<{ close(): Promise<void> }> {
    const { subscriber, keys, report } = this.options;
    const working = new Set<Promise<void>>();
    const subscription = subscriber.listen(keys.hostRequests(hostId), (text) => {
      const request = readHostRequest(text);
      if (request === undefined) {
        report({ operation: 'host.decode', error: new Error('A host request could not be read.') });
        return;
      }
      const answer = this.answer(request, handlers).finally(() => working.delete(answer));
      working.add(answer);
    });
    return {
      close: async () => {
        await subscription.unsubscribe();
        await Promise.all(working);
      },
    };
  }

  private async answer(request: HostRequestMessage, handlers: HostRequestHandlers): Promise<void> {
    const { redis, keys, report } = this.options;
    const outcome = await this.outcome(request, handlers);
    const reply: HostReplyMessage = { version: 1, id: request.id, outcome };
    try {
      await redis.publish(keys.hostReplies(request.replyTo), JSON.stringify(reply));
    } catch (error) {
      report({ operation: 'host.reply', error, context: { correlation_id: request.correlationId } });
    }
  }

  private async outcome(
    request: HostRequestMessage,
    handlers: HostRequestHandlers,
  ): Promise<HostReplyMessage['outcome']> {
    try {
      return { ok: true, response: await handleHostRequest(handlers, request.name, request.payload) };
    } catch (thrown) {
      const error = toAppError(thrown);
      const context = { correlation_id: request.correlationId, request: request.name };
      if (error.kind === 'internal') this.options.report({ operation: 'host.request', error, context });
      return { ok: false, error: toWireError(error) };
    }
  }
}
