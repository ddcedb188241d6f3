// The socket's use-cases, for a request that came over HTTP: the same handlers, and the payload through the same schema.
import { Inject, Injectable } from '@nestjs/common';
import type { z } from 'zod';
import { AppError } from '#kernel';
import { CLIENT_EVENTS, type ClientData, type ClientEventName, type ClientRequest } from '#protocol';
import { HANDLERS } from '../transport/handler-table.js';
import { parsePayload } from '../transport/payload.js';
import type { ContextOf, EventHandler, HandlerTable } from '../transport/request-context.js';
import type { RestCall } from './rest-call.js';

@Injectable()
export class UseCases {
  constructor(@Inject(HANDLERS) private readonly handlers: HandlerTable) {}

  /**
   * Answers as the event would, of whatever the route's address, query and body say. `payload` takes their place.
   * Only events whose roles were checked on the way in can be asked.
   */
  async answer<E extends ClientEventName>(event: E, call: RestCall, payload?: object): Promise<ClientData<E>> {
    if (!call.route.events.includes(event)) {
      throw new AppError('internal.unexpected', `The route ${call.name} was not checked for ${event}.`);
    }
    const asked = payload ?? { ...call.params, ...call.query, ...call.body, ...idempotencyKeyOf(call) };
    const schema = CLIENT_EVENTS[event].request as unknown as z.ZodType<ClientRequest<E>>;
    const request = parsePayload(schema, asked);
    const handle = this.handlers[event] as unknown as EventHandler<E>;
    return handle(request, call.context as ContextOf<E>);
  }
}

/** The header Idempotency-Key as the events' field. */
export function idempotencyKeyOf({ route, request }: RestCall): { idempotency_key?: string } {
  const key = request.get('idempotency-key');
  return route.idempotent === true && key !== undefined ? { idempotency_key: key } : {};
}
