// The web client's files: hashed assets are kept for ever, the page itself is asked for each time, and every other path of the client is that page.
import type { ServerResponse } from 'node:http';
import { basename, sep } from 'node:path';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';

const INDEX = 'index.html';
const ONE_YEAR_S = 365 * 24 * 60 * 60;
/** Vite puts files whose names carry a hash of their content here. */
const ASSETS = `${sep}assets${sep}`;

/** Paths that are programs' business: an unknown one is an error, not the page. */
const RESERVED = /^\/(?:api|socket\.io|healthz|readyz|metrics)(?:\/|$)/;

export function serveWebClient(app: NestExpressApplication, webDir: string): void {
  app.useStaticAssets(webDir, {
    index: INDEX,
    redirect: false,
    setHeaders: (response: ServerResponse, path: string) => {
      response.setHeader('cache-control', cachingOf(path));
    },
  });
  app.use((request: Request, response: Response, next: NextFunction) => {
    if (!isPage(request)) return next();
    response.setHeader('cache-control', cachingOf(INDEX));
    response.sendFile(INDEX, { root: webDir }, (error?: Error) => {
      if (error !== undefined && !response.headersSent) next(error);
    });
  });
}

const cachingOf = (path: string): string =>
  path.includes(ASSETS) && basename(path) !== INDEX ? `public, max-age=${ONE_YEAR_S}, immutable` : 'no-cache';

/** A browser that opens a path of the client's own router; a missing script or image is a 404 and not a page. */
function isPage({ method, path, headers }: Request): boolean {
  const wantsPage = headers.accept?.includes('text/html') ?? false;
  return (method === 'GET' || method === 'HEAD') && wantsPage && !RESERVED.test(path);
}
