// Parsers for the values in control frames, by hand, so that sandboxd stays one small file. Unknown keys are ignored: a newer
// end may send more than an older one knows.
import { WireError } from './wire-error.js';

export type Parser<T> = (value: unknown, at: string) => T;
export type Parsed<P> = P extends Parser<infer T> ? T : never;

const expected = (at: string, what: string): WireError => new WireError(`${at} is not ${what}`);

/** Process ids name folders, so their letters are few. */
export const isProcessId = (text: string): boolean => /^[0-9A-Za-z][0-9A-Za-z._-]{0,63}$/.test(text);
/** Keys of input (R8): up to 128 visible ASCII letters. */
export const isKey = (text: string): boolean => /^[\x21-\x7e]{1,128}$/.test(text);

export const string: Parser<string> = (value, at) => {
  if (typeof value !== 'string') throw expected(at, 'a string');
  return value;
};

export const processId: Parser<string> = (value, at) => {
  const text = string(value, at);
  if (!isProcessId(text)) throw expected(at, 'a process id');
  return text;
};

export const boolean: Parser<boolean> = (value, at) => {
  if (typeof value !== 'boolean') throw expected(at, 'a boolean');
  return value;
};

/** Whole, not negative, exact in a double. */
export const natural: Parser<number> = (value, at) => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw expected(at, 'a natural number');
  return value;
};

export const integer: Parser<number> = (value, at) => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw expected(at, 'a whole number');
  return value;
};

export const nullable =
  <T>(inner: Parser<T>): Parser<T | null> =>
  (value, at) =>
    value === null ? null : inner(value, at);

export const optional =
  <T>(inner: Parser<T>): Parser<T | undefined> =>
  (value, at) =>
    value === undefined ? undefined : inner(value, at);

export const oneOf =
  <const T extends readonly string[]>(...members: T): Parser<T[number]> =>
  (value, at) => {
    const member = members.find((candidate) => candidate === value);
    if (member === undefined) throw expected(at, `one of ${members.join(', ')}`);
    return member;
  };

export const list =
  <T>(inner: Parser<T>): Parser<T[]> =>
  (value, at) => {
    if (!Array.isArray(value)) throw expected(at, 'a list');
    return value.map((item, index) => inner(item, `${at}[${index}]`));
  };

const asRecord: Parser<Record<string, unknown>> = (value, at) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw expected(at, 'an object');
  return value as Record<string, unknown>;
};

export const map =
  <T>(inner: Parser<T>): Parser<Record<string, T>> =>
  (value, at) =>
    Object.fromEntries(Object.entries(asRecord(value, at)).map(([key, item]) => [key, inner(item, `${at}.${key}`)]));

export const object =
  <S extends Record<string, Parser<unknown>>>(shape: S): Parser<{ [K in keyof S]: Parsed<S[K]> }> =>
  (value, at) => {
    const record = asRecord(value, at);
    const own = (key: string): unknown => (Object.hasOwn(record, key) ? record[key] : undefined);
    const entries = Object.entries(shape)
      .map(([key, parse]) => [key, parse(own(key), `${at}.${key}`)] as const)
      .filter(([, parsed]) => parsed !== undefined);
    return Object.fromEntries(entries) as { [K in keyof S]: Parsed<S[K]> };
  };

/** A payload of a control frame as an object; JSON's own errors become WireErrors. */
export function parseJson(payload: Buffer): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(payload.toString('utf8'));
  } catch (error) {
    throw new WireError('a control frame is not JSON', error);
  }
  return asRecord(value, 'a control frame');
}
