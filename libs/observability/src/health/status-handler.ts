// The three pages that every process serves to its operators, for node:http as well as for Express.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ERROR_POLICY } from '#kernel';
import type { Logger } from '../logging/create-logger.js';
import { logError } from '../logging/log-error.js';
import type { Metrics } from '../metrics/create-metrics.js';
import type { HealthRegistry, HealthScope } from './health-registry.js';

export interface StatusPages {
  health: HealthRegistry;
  metrics: Pick<Metrics, 'render'>;
  /** Hears of a page that could not be made. */
  logger: Logger;
}

interface Page {
  status: number;
  contentType: string;
  body: string;
}

const JSON_TYPE = 'application/json; charset=utf-8';
const TEXT_TYPE = 'text/plain; charset=utf-8';

async function healthPage(health: HealthRegistry, scope: HealthScope): Promise<Page> {
  const report = await health.report(scope);
  return {
    status: report.status === 'ok' ? 200 : ERROR_POLICY.unavailable.http,
    contentType: JSON_TYPE,
    body: `${JSON.stringify(report)}\n`,
  };
}

/**
 * `GET /healthz` (alive), `/readyz` (may get work), `/metrics` (Prometheus). 503 when a check fails. Answers nothing else: for any other
 * path it calls `next` if there is one (Express middleware), else it says 404. Health reports name checks and codes, never addresses.
 */
export function createStatusHandler({ health, metrics, logger }: StatusPages) {
  const pages: Readonly<Record<string, () => Promise<Page>>> = {
    '/healthz': () => healthPage(health, 'liveness'),
    '/readyz': () => healthPage(health, 'readiness'),
    '/metrics': async () => ({ status: 200, ...(await metrics.render()) }),
  };
  const choose = (request: IncomingMessage): (() => Promise<Page>) | undefined => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    if (!Object.hasOwn(pages, path)) return undefined;
    if (request.method === 'GET' || request.method === 'HEAD') return pages[path];
    return async () => ({ status: 405, contentType: TEXT_TYPE, body: 'Only GET and HEAD.\n' });
  };
  return (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void): void => {
    const page = choose(request);
    if (page === undefined && next !== undefined) return next();
    const answer = page?.() ?? Promise.resolve({ status: 404, contentType: TEXT_TYPE, body: 'Not found.\n' });
    answer.then(
      (content) => send(request, response, content),
      (thrown: unknown) => {
        logError(logger, thrown, { path: request.url });
        send(request, response, { status: 500, contentType: TEXT_TYPE, body: 'The page could not be made.\n' });
      },
    );
  };
}

function send(request: IncomingMessage, response: ServerResponse, page: Page): void {
  response.writeHead(page.status, {
    'content-type': page.contentType,
    'content-length': Buffer.byteLength(page.body),
    'cache-control': 'no-store',
  });
  response.end(request.method === 'HEAD' ? undefined : page.body);
}
