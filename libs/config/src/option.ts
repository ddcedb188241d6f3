// One configuration option: what it is called, what it means, who reads it and how its text becomes a value.
import type { ValueSchema } from './values.schema.js';

/** The programs that read configuration. `make` is the command line behind the Makefile. */
export const PROGRAMS = ['gateway', 'worker', 'broker', 'make'] as const;
export type Program = (typeof PROGRAMS)[number];

export type Unit = 'ms' | 'days' | 'MiB' | 'bytes' | 'CPUs' | '%';

interface OptionFacts<T, Readers extends Program> {
  description: string;
  readBy: readonly Readers[];
  schema: ValueSchema<T>;
  unit?: Unit;
  /** The value is never shown; `readBy` alone decides which process may be given it. */
  secret?: true;
}

/** `required`: a service refuses to start without it (`make` finds or makes it). `fallback`: used when unset. `optional`: may be absent. */
export type Option<T = unknown, Readers extends Program = Program> = OptionFacts<T, Readers> &
  (
    | { presence: 'required' }
    | { presence: 'fallback'; fallback: T; fallbackText: string }
    | { presence: 'optional'; absentText: string }
  );

type Facts<T, R extends Program> = OptionFacts<T, R>;
export type RequiredOption<T, R extends Program> = Facts<T, R> & { presence: 'required' };
export type FallbackOption<T, R extends Program> = Facts<T, R> & {
  presence: 'fallback';
  fallback: T;
  fallbackText: string;
};
export type OptionalOption<T, R extends Program> = Facts<T, R> & { presence: 'optional'; absentText: string };

export const required = <T, const R extends Program>(facts: Facts<T, R>): RequiredOption<T, R> => ({
  ...facts,
  presence: 'required',
});

export const withDefault = <T, const R extends Program>(fallback: T, facts: Facts<T, R>): FallbackOption<T, R> => ({
  ...facts,
  presence: 'fallback',
  fallback,
  fallbackText: typeof fallback === 'boolean' ? String(Number(fallback)) : String(fallback),
});

/** `absentText` is what the documentation says about leaving it out. */
export const optional = <T, const R extends Program>(absentText: string, facts: Facts<T, R>): OptionalOption<T, R> => ({
  ...facts,
  presence: 'optional',
  absentText,
});
