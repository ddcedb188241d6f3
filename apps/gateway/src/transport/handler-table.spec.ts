// Every event has exactly one handler.
import { CLIENT_EVENTS } from '#protocol';
import { checkHandlers, knownEvent } from './handler-table.js';

const all = () => Object.fromEntries(Object.keys(CLIENT_EVENTS).map((event) => [event, async () => ({})]));

it('GW-12 takes a full table in parts', () => {
  const { ping, ...rest } = all();
  expect(() => checkHandlers([{ ping } as object, rest])).not.toThrow();
});

it.each([
  ['a missing one', ({ ping: _, ...rest }: Record<string, unknown>) => [rest], /ping has no handler/],
  [
    'a second one',
    (table: Record<string, unknown>) => [table, { execute: table['execute'] }],
    /execute has two handlers/,
  ],
  [
    'a foreign one',
    (table: Record<string, unknown>) => [{ ...table, sudo: table['ping'] }],
    /sudo is not in the catalogue/,
  ],
] as const)('GW-12 refuses to start with %s', (_, partsOf, message) => {
  expect(() => checkHandlers(partsOf(all()) as object[])).toThrow(message);
});

it.each(['nothing', '__proto__', 'constructor', 'toString', 'error', 7, null, undefined])(
  'GW-6 does not know %s',
  (name) => {
    expect(knownEvent(name)).toBeUndefined();
  },
);
