// Reads what the server sends: strictly where the page relies on it, tolerantly where a newer server may say more.
import {
  CLIENT_EVENTS,
  type ClientData,
  type ClientEventName,
  eventInfo,
  SERVER_EVENTS,
  type ServerPush,
} from '#protocol';
import { z } from 'zod';
import { clientProblem, ProblemError, readProblem } from '../state/problem.js';
import type { WireEvent } from '../state/wire-event.js';

/** An event whose type this build may not know. */
const wireEvent = eventInfo.extend({ type: z.string() });

const TOLERANT = {
  project_join: CLIENT_EVENTS.project_join.data.extend({ events: z.array(wireEvent) }),
  get_messages: CLIENT_EVENTS.get_messages.data.extend({ messages: z.array(wireEvent) }),
};

/** The data of an ack as the page gets it. */
export type AckData<E extends ClientEventName> = E extends keyof typeof TOLERANT
  ? z.infer<(typeof TOLERANT)[E]>
  : ClientData<E>;

export type PushName = keyof typeof SERVER_EVENTS;
export type Pushes = { [P in PushName]: P extends 'event' ? WireEvent : ServerPush<P> };
export const PUSH_NAMES = Object.keys(SERVER_EVENTS) as PushName[];

const envelope = z.union([
  z.object({ ok: z.literal(true), data: z.unknown() }),
  z.object({ ok: z.literal(false), error: z.unknown() }),
]);

/** The data of an ack. Throws a ProblemError: the server's, or `client.unreadable` when it is not what the protocol says. */
export function readAck<E extends ClientEventName>(event: E, raw: unknown): AckData<E> {
  const ack = envelope.safeParse(raw);
  if (!ack.success) throw new ProblemError(clientProblem('client.unreadable', event));
  if (!ack.data.ok) throw new ProblemError(readProblem(ack.data.error) ?? clientProblem('client.unreadable', event));
  const schema = event in TOLERANT ? TOLERANT[event as keyof typeof TOLERANT] : CLIENT_EVENTS[event].data;
  const data = schema.safeParse(ack.data.data);
  if (!data.success) throw new ProblemError(clientProblem('client.unreadable', event));
  return data.data as AckData<E>;
}

/** A push's payload, or undefined when it is not what the protocol says. */
export function readPush<P extends PushName>(name: P, raw: unknown): Pushes[P] | undefined {
  const schema = name === 'event' ? wireEvent : SERVER_EVENTS[name].payload;
  const payload = schema.safeParse(raw);
  return payload.success ? (payload.data as Pushes[P]) : undefined;
}
