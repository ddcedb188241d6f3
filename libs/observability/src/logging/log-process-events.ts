// What Node itself would print beside our log lines, as log lines: its warnings, and the error that ends the process.
import type { Logger } from './create-logger.js';
import { logError } from './log-error.js';

/** The parts of `process` that are used here. */
export interface ProcessEvents {
  on(event: 'warning', listener: (warning: Error) => void): unknown;
  on(event: 'uncaughtException', listener: (error: Error, origin: string) => void): unknown;
  removeAllListeners(event: 'warning'): unknown;
  exit(code: number): unknown;
}

/**
 * Called once, first thing in a `main.ts`. Warnings (of Node and of packages) become lines at `warn`; Node's own printer, which knows no
 * redaction, is taken off. An error that nobody caught, or a rejection, is logged and ends the process with exit code 1: its
 * state cannot be trusted any more, and its supervisor starts another.
 */
export function logProcessEvents(logger: Logger, target: ProcessEvents = process): void {
  target.removeAllListeners('warning');
  target.on('warning', (warning) => logger.warn({ err: warning }, 'warning of Node'));
  target.on('uncaughtException', (error, origin) => {
    logError(logger, error, { origin, fatal: true });
    target.exit(1);
  });
}
