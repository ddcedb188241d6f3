// The kinds of value an option can have: each turns the text of an environment variable into a typed value, or says what is wrong
// with it without repeating it (CFG-2).
import { isIP } from 'node:net';
import { normalize } from 'node:path/posix';
import { z } from 'zod';
import { Secret } from './secret.js';

/** Longest path a unix socket can have on Linux (sun_path is 108 bytes with its closing NUL, unix(7)). */
export const MAX_SOCKET_PATH_BYTES = 107;

export type ValueSchema<T> = z.ZodType<T, string>;

/** A schema from a function that gives the value, or throws `Refused` with the reason. */
function parsed<T>(parse: (text: string) => T): ValueSchema<T> {
  return z.string().transform((text, context): T => {
    try {
      return parse(text);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      context.addIssue({ code: 'custom', message: error.message });
      return z.NEVER;
    }
  });
}

class Refused extends Error {}

function refuseUnless(condition: boolean, reason: string): asserts condition {
  if (!condition) throw new Refused(reason);
}

function parseUrl(text: string, protocols: readonly string[]): URL {
  const reason = `must be a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`;
  refuseUnless(URL.canParse(text), reason);
  const url = new URL(text);
  refuseUnless(protocols.includes(url.protocol) && url.hostname !== '', reason);
  return url;
}

function parsePath(text: string): string {
  refuseUnless(!text.includes('\0'), 'must not contain a NUL byte');
  refuseUnless(text.startsWith('/'), 'must be an absolute path');
  refuseUnless(!text.split('/').includes('..'), 'must not contain `..`');
  const path = normalize(text);
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

function parseSocketPath(text: string): string {
  const path = parsePath(text);
  const short = Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES;
  refuseUnless(short, `must be at most ${MAX_SOCKET_PATH_BYTES} bytes long, the limit of a unix socket's path`);
  return path;
}

const items = (text: string, separator: string): string[] =>
  text
    .split(separator)
    .map((item) => item.trim())
    .filter((item) => item !== '');

export const word = (): ValueSchema<string> =>
  parsed((text) => {
    refuseUnless(/^[^\s\0]+$/.test(text), 'must not contain white space');
    return text;
  });

export const secretText = (): ValueSchema<Secret> =>
  parsed((text) => {
    // A line break would end a header line: such a value can only be a mistake in copying.
    refuseUnless(/^[\x21-\x7e]+$/.test(text), 'must be printable ASCII without white space');
    return new Secret(text);
  });

/** A URL that may hold a password, so it is a secret as a whole. */
export const secretUrl = (protocols: readonly string[]): ValueSchema<Secret> =>
  parsed((text) => {
    parseUrl(text, protocols);
    return new Secret(text);
  });

/** An http(s) base URL without a trailing slash, user name, query or fragment. */
export const httpUrl = (): ValueSchema<string> =>
  parsed((text) => {
    const url = parseUrl(text, ['https:', 'http:']);
    refuseUnless(url.username === '' && url.password === '', 'must not contain a user name or password');
    refuseUnless(url.search === '' && url.hash === '', 'must not have a query or a fragment');
    return url.href.replace(/\/+$/, '');
  });

/** Comma-separated origins (`https://gantry.example.org`), normalised as browsers send them. */
export const originList = (): ValueSchema<string[]> =>
  parsed((text) =>
    items(text, ',').map((item) => {
      const url = parseUrl(item, ['https:', 'http:']);
      const bare =
        url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '' && url.password === '';
      refuseUnless(bare, 'must be origins only (scheme, host and port), separated by commas');
      return url.origin;
    }),
  );

export const integer = (minimum: number, maximum: number): ValueSchema<number> =>
  parsed((text) => {
    const value = Number(text);
    const valid = /^\d+$/.test(text) && Number.isSafeInteger(value) && value >= minimum && value <= maximum;
    refuseUnless(valid, `must be a whole number from ${minimum} to ${maximum}`);
    return value;
  });

export const decimal = (minimum: number, maximum: number): ValueSchema<number> =>
  parsed((text) => {
    const value = Number(text);
    const valid = /^\d+(\.\d+)?$/.test(text) && value >= minimum && value <= maximum;
    refuseUnless(valid, `must be a number from ${minimum} to ${maximum}`);
    return value;
  });

export const flag = (): ValueSchema<boolean> =>
  parsed((text) => {
    refuseUnless(['0', '1', 'false', 'true'].includes(text), 'must be 0 or 1');
    return text === '1' || text === 'true';
  });

export const oneOf = <const T extends string>(choices: readonly T[]): ValueSchema<T> =>
  parsed((text) => {
    const choice = choices.find((candidate) => candidate === text);
    refuseUnless(choice !== undefined, `must be one of ${choices.join(', ')}`);
    return choice;
  });

/** A host name or an IP address to listen on. */
export const listenHost = (): ValueSchema<string> =>
  parsed((text) => {
    const valid = isIP(text) !== 0 || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text);
    refuseUnless(valid, 'must be an IP address or a host name');
    return text;
  });

export const absolutePath = (): ValueSchema<string> => parsed(parsePath);
export const socketPath = (): ValueSchema<string> => parsed(parseSocketPath);

/** Docker's own way to name a socket: `unix:///path`. Nothing else is spoken by the worker. */
export const unixSocketUrl = (): ValueSchema<string> =>
  parsed((text) => {
    refuseUnless(text.startsWith('unix:///'), 'must start with unix:/// (other transports are not supported)');
    return parseSocketPath(text.slice('unix://'.length));
  });

/** Absolute paths, separated by colons like PATH. */
export const pathList = (): ValueSchema<string[]> =>
  parsed((text) => {
    const paths = items(text, ':').map(parsePath);
    refuseUnless(paths.length > 0, 'must name at least one path');
    return [...new Set(paths)];
  });
