// One row of the provider table: where a provider's requests go, which of them are allowed, and how they get their credential.
import { AppError } from '#kernel';
import type { HeaderList } from '../http/header-list.js';
import type { Upstream } from './upstream.js';

export interface Route {
  /** A short stable name for logs. */
  name: string;
  method: string;
  /** Must match the whole path. */
  path: RegExp;
}

export interface Provider {
  /** Its name in `/broker/<name>/…` and in metrics. */
  name: string;
  upstream: Upstream;
  /** Everything else is refused: a credential reaches more at a provider than a sandbox may. */
  routes: readonly Route[];
  /** Adds the provider's credential to headers that hold none. Throws `broker.not_configured`. */
  authorize(headers: HeaderList): HeaderList;
  /** What must never stand in a response's headers. */
  secrets: readonly string[];
}

/** The route that allows a request. Throws `broker.path_refused`. */
export function findRoute(provider: Provider, method: string, path: string): Route {
  const route = provider.routes.find((candidate) => candidate.method === method && candidate.path.test(path));
  if (route === undefined) {
    throw new AppError('broker.path_refused', `${provider.name} is not open to sandboxes for this method and path.`);
  }
  return route;
}
