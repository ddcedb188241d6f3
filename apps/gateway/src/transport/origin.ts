// Which browsers may connect. CORS does not protect a websocket, so the Origin is checked before the upgrade (GW-3).
import { isLoopback } from '#config';

export interface OriginRules {
  /** Origins as browsers send them, besides the gateway's own. */
  allowed: readonly string[];
  /** Whether this gateway speaks TLS itself. */
  tls: boolean;
  /** Address on which it listens. */
  host: string;
}

export interface OriginFacts {
  origin: string | undefined;
  /** The Host header. */
  host: string | undefined;
}

/**
 * Programs other than browsers send no Origin and are let through: the token is what protects them. A gateway on loopback believes
 * a Host header only if it names loopback: another name that resolves here is somebody else's page (DNS rebinding).
 */
export function isOriginAllowed({ origin, host }: OriginFacts, rules: OriginRules): boolean {
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const { protocol, hostname, host: named, origin: normal } = new URL(origin);
  if (rules.allowed.includes(normal)) return true;
  const sameOrigin = protocol === (rules.tls ? 'https:' : 'http:') && named === hostOf(host, protocol);
  return sameOrigin && (!isLoopback(rules.host) || isLoopback(hostname));
}

/** A Host header as URL.host writes it: lower case, without the scheme's default port. */
function hostOf(header: string | undefined, protocol: string): string | undefined {
  const url = `${protocol}//${header ?? ''}`;
  return header !== undefined && URL.canParse(url) ? new URL(url).host : undefined;
}
