// Nest's own messages, in our log lines.
import type { LoggerService } from '@nestjs/common';
import type { Logger, LogLevel } from './create-logger.js';

type Writable = Exclude<LogLevel, 'silent'>;

const looksLikeStack = (value: string): boolean => /\n\s+at /.test(value);

/**
 * Nest calls every method with `(message, ...optional, context?)`; `error` puts a stack between them. Wire it with
 * `NestFactory.create(AppModule, { logger: new NestLoggerAdapter(logger) })`.
 */
export class NestLoggerAdapter implements LoggerService {
  private readonly logger: Logger;

  constructor(logger: Logger) {
    this.logger = logger;
  }

  /** Nest's start-up chatter (one line per route and module) belongs to `debug`. */
  log(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  private write(level: Writable, message: unknown, rest: unknown[]): void {
    const words = rest.filter((value): value is string => typeof value === 'string');
    const context = words.findLast((word) => !looksLikeStack(word));
    const stack = words.find(looksLikeStack);
    const thrown = [message, ...rest].find((value) => value instanceof Error);
    this.logger[level](
      {
        ...(context === undefined ? {} : { nest_context: context }),
        ...(thrown === undefined ? {} : { err: thrown }),
        ...(thrown === undefined && stack !== undefined ? { stack } : {}),
      },
      typeof message === 'string' ? message : message instanceof Error ? message.message : 'nest',
    );
  }
}
