// A durable event as this page reads it: its type may be one that this build does not know.
import { EVENT_PAYLOADS, type EventInfo, type EventPayload, type EventPayloads } from '#protocol';

export type WireEvent = Omit<EventInfo, 'type'> & { readonly type: string };

export type KnownEvent = {
  [T in keyof EventPayloads]: { readonly type: T; readonly payload: EventPayload<T> };
}[keyof EventPayloads];

/** `unknown`: a type of a newer server, or one without a payload of its own. `unreadable`: a payload of another shape. */
export type ReadEvent = KnownEvent | { readonly type: 'unknown' | 'unreadable' };

const read = new WeakMap<WireEvent, ReadEvent>();

/** The event's payload by its type; parsed once per event. Never throws. */
export function readEvent(event: WireEvent): ReadEvent {
  const known = read.get(event);
  if (known !== undefined) return known;
  const result = parse(event);
  read.set(event, result);
  return result;
}

function parse(event: WireEvent): ReadEvent {
  if (!Object.hasOwn(EVENT_PAYLOADS, event.type)) return { type: 'unknown' };
  const type = event.type as keyof EventPayloads;
  const payload = EVENT_PAYLOADS[type].safeParse(event.payload);
  return payload.success ? ({ type, payload: payload.data } as KnownEvent) : { type: 'unreadable' };
}
