// Headers that keep the web client's page from being framed, sniffed or fed with foreign code.
import type { NextFunction, Request, Response } from 'express';

/** Everything from our own origin; styles may be inline because component libraries set them. `self` covers the websocket too. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const ONE_YEAR_S = 365 * 24 * 60 * 60;

export const securityHeaders =
  ({ tls }: { tls: boolean }) =>
  (_request: Request, response: Response, next: NextFunction): void => {
    response.setHeader('content-security-policy', CONTENT_SECURITY_POLICY);
    response.setHeader('x-content-type-options', 'nosniff');
    response.setHeader('x-frame-options', 'DENY');
    response.setHeader('referrer-policy', 'no-referrer');
    response.setHeader('cross-origin-opener-policy', 'same-origin');
    response.setHeader('permissions-policy', 'camera=(), microphone=(), geolocation=()');
    if (tls) response.setHeader('strict-transport-security', `max-age=${ONE_YEAR_S}`);
    next();
  };
