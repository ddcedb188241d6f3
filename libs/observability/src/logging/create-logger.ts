// The one way to make a logger: JSON lines on standard output, every line past the redactor.
import {
  type DestinationStream,
  type Logger as PinoLogger,
  destination as openDestination,
  pino,
  stdTimeFunctions,
} from 'pino';
import { redactLine } from './redact-line.js';
import { serializeError } from './serialize-error.js';

export type Logger = PinoLogger;

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LoggerOptions {
  /** The process that speaks: `gateway`, `worker`, `broker`… */
  service: string;
  level: LogLevel;
  /** Where finished lines go; standard output if absent. Takes whole lines, each with its line feed. */
  destination?: DestinationStream;
}

const STDOUT_FD = 1;

/**
 * A pino logger. Times are ISO-8601 UTC, levels are words, an error goes under `err`. Secrets and prompts are redacted at
 * every level. Writes are synchronous, so that the last words of a dying process are not lost.
 */
export function createLogger({ service, level, destination }: LoggerOptions): Logger {
  const sink = destination ?? openDestination({ dest: STDOUT_FD, sync: true });
  return pino(
    {
      level,
      base: { service, pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (value: unknown) => serializeError(value) },
    },
    { write: (line: string) => sink.write(redactLine(line)) },
  );
}
