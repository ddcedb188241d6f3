// Every event of the catalogue has exactly one handler: the compiler says so where the table is made, and this at start.
import { AppError } from '#kernel';
import { CLIENT_EVENTS } from '#protocol';
import type { EventHandlers, HandlerTable } from './request-context.js';

/** Under which Nest gives the table of all handlers. */
export const HANDLERS = Symbol('HandlerTable');

type Part = Partial<EventHandlers<keyof typeof CLIENT_EVENTS>>;

/** Throws `internal.unexpected` that names every event without a handler, with two, or outside the catalogue. */
export function checkHandlers(parts: readonly Part[]): void {
  const given = parts.flatMap((part) => Object.keys(part));
  const known = Object.keys(CLIENT_EVENTS);
  const problems = [
    ...known.filter((event) => !given.includes(event)).map((event) => `${event} has no handler`),
    ...given.filter((event, index) => given.indexOf(event) !== index).map((event) => `${event} has two handlers`),
    ...given.filter((event) => !known.includes(event)).map((event) => `${event} is not in the catalogue`),
  ];
  if (problems.length > 0) throw new AppError('internal.unexpected', `Client events: ${problems.join('; ')}.`);
}

/** The name of a catalogue event, or undefined. Names of Object.prototype are none. */
export function knownEvent(name: unknown): keyof HandlerTable | undefined {
  return typeof name === 'string' && Object.hasOwn(CLIENT_EVENTS, name) ? (name as keyof HandlerTable) : undefined;
}
