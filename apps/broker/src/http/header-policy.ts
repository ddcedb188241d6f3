// Which headers may pass the broker, in either direction. Pure. What is not named here passes, except what looks like a credential.
import { fromRaw, type HeaderList, valuesOf } from './header-list.js';

/** Headers of one connection, never forwarded. Source: RFC 9110, section 7.6.1, and RFC 2616, section 13.5.1. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);

/** A name that ends in one of these words carries a credential, whoever's it is (`x-goog-api-key`, `x-amz-security-token`). */
const CREDENTIAL =
  /(^|[-_])(auth|authorization|authentication|authenticate|cookie2?|api[-_]?key|token|secret|password|credentials?)$/;

/** Request headers that would let a caller speak for a proxy, choose another method or host, or wait for a word from it. */
const REQUEST_ONLY =
  /^(host|expect|forwarded|via|x-real-ip|x-(http-)?method(-override)?|x-original-url|x-rewrite-url)$|^x-forwarded-/;

/** Response headers that would set state at the caller or send it elsewhere. */
const RESPONSE_ONLY = /^(set-cookie2?|authentication-info|alt-svc|location|refresh|clear-site-data)$/;

const TOKEN_FORM = /^[\x21-\x7e]{1,512}$/;
const BEARER = /^bearer +(\S+)$/i;

/**
 * The token by which a caller identifies itself: in `x-api-key` or `authorization: Bearer`, wherever its client puts a key. Undefined when
 * there is none, or when two headers disagree: then nobody could say which one another reader would have taken.
 */
export function callerToken(headers: HeaderList): string | undefined {
  const authorizations = valuesOf(headers, 'authorization').map((value) => BEARER.exec(value)?.[1]);
  const tokens = new Set([...valuesOf(headers, 'x-api-key'), ...authorizations]);
  const [token] = tokens;
  return tokens.size === 1 && token !== undefined && TOKEN_FORM.test(token) ? token : undefined;
}

/** What of a caller's headers goes upstream; the provider's credential is added afterwards, so nothing here can remove it. */
export function requestHeaders(raw: readonly string[]): HeaderList {
  const headers = fromRaw(raw);
  const listed = connectionListed(headers);
  return headers.filter(([name]) => !isDropped(name.toLowerCase(), listed, REQUEST_ONLY));
}

/** What of an upstream's headers goes to the caller. A header that holds one of the secrets is dropped whatever its name. */
export function responseHeaders(raw: readonly string[], secrets: readonly string[]): HeaderList {
  const headers = fromRaw(raw);
  const listed = connectionListed(headers);
  return headers.filter(
    ([name, value]) =>
      !isDropped(name.toLowerCase(), listed, RESPONSE_ONLY) &&
      !secrets.some((secret) => value.includes(secret) || name.includes(secret)),
  );
}

/** Names that the sender declared to be for this connection only. */
function connectionListed(headers: HeaderList): Set<string> {
  const names = valuesOf(headers, 'connection').flatMap((value) => value.split(','));
  return new Set(names.map((name) => name.trim().toLowerCase()));
}

function isDropped(name: string, listed: Set<string>, also: RegExp): boolean {
  return (
    HOP_BY_HOP.has(name) || listed.has(name) || name.startsWith('proxy-') || CREDENTIAL.test(name) || also.test(name)
  );
}
