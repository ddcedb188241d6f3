// Reads the target of a request into the one form that the broker serves. Pure; everything doubtful is refused, nothing is normalised.
import { AppError } from '#kernel';

export interface ProviderTarget {
  provider: string;
  /** Path at the provider, absolute, without query. */
  path: string;
  /** With its question mark, or ''. */
  query: string;
}

const PREFIX = '/broker/';
const LENGTH_LIMIT = 8 * 1024;

/** Characters of a path or query that need no escape (RFC 3986, section 3.3 and 3.4), without `\`, `#`, white space and control characters. */
const PATH = /^(?:[\w.~!$&'()*+,;=:@/-]|%[\dA-Fa-f]{2})+$/;
const QUERY = /^(?:[\w.~!$&'()*+,;=:@/?-]|%[\dA-Fa-f]{2})*$/;
/** Escapes that another reader might undo into a separator, a dot, an escape or a control character. */
const RISKY_ESCAPE = /%(?:2[eEfF5]|5[cC]|3[bB]|[01][\dA-Fa-f]|7[fF])/;
const PROVIDER = /^[a-z][a-z0-9-]{0,31}$/;

/**
 * The target of `/broker/<provider>/<path>?<query>`. Throws `broker.request_refused` for an absolute URL, `*`, dot or empty segments,
 * escapes of separators and characters that no client of these APIs sends.
 */
export function parseTarget(url: string): ProviderTarget {
  if (url.length > LENGTH_LIMIT) throw refused('The request target is too long.');
  if (!url.startsWith('/')) throw refused('The request target must be a path.');
  const at = url.indexOf('?');
  const path = at === -1 ? url : url.slice(0, at);
  const query = at === -1 ? '' : url.slice(at);
  if (!path.startsWith(PREFIX)) throw new AppError('broker.provider_unknown', 'There is nothing at this path.');
  if (!PATH.test(path) || !QUERY.test(query) || RISKY_ESCAPE.test(path)) {
    throw refused('The request target holds characters that are not allowed.');
  }
  const [provider = '', ...segments] = path.slice(PREFIX.length).split('/');
  if (!PROVIDER.test(provider)) throw new AppError('broker.provider_unknown', 'There is no such provider.');
  if (segments.length === 0 || segments.some((segment) => segment === '' || segment === '.' || segment === '..')) {
    throw refused('The request target holds an empty or dot segment.');
  }
  return { provider, path: `/${segments.join('/')}`, query };
}

function refused(message: string): AppError {
  return new AppError('broker.request_refused', message);
}
