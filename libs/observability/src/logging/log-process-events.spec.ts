// A process that warns and dies, played by an emitter.
import { EventEmitter } from 'node:events';
import { createLogger } from './create-logger.js';
import { logProcessEvents } from './log-process-events.js';

class PlayedProcess extends EventEmitter {
  exitCode: number | undefined;
  exit(code: number): void {
    this.exitCode = code;
  }
}

function start() {
  const raw: string[] = [];
  const logger = createLogger({
    service: 'test',
    level: 'info',
    destination: { write: (line) => void raw.push(line) },
  });
  const target = new PlayedProcess();
  let printed = false;
  target.on('warning', () => (printed = true));
  logProcessEvents(logger, target);
  return {
    target,
    printed: () => printed,
    lines: () => raw.map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

describe('logProcessEvents', () => {
  it('OBS-19 turns a warning into a log line and keeps Node from printing it', () => {
    const { target, printed, lines } = start();
    target.emit('warning', new Error('this API will go away'));
    expect(lines()).toMatchObject([{ level: 'warn', err: { message: 'this API will go away' } }]);
    expect(printed()).toBe(false);
    expect(target.exitCode).toBeUndefined();
  });

  it('OBS-19 logs the error that nobody caught, without secrets, and ends the process', () => {
    const { target, lines } = start();
    target.emit('uncaughtException', new Error('redis://:S3CRETpass@localhost'), 'unhandledRejection');
    expect(lines()).toMatchObject([
      { level: 'error', origin: 'unhandledRejection', error_code: 'internal.unexpected' },
    ]);
    expect(JSON.stringify(lines())).not.toContain('S3CRETpass');
    expect(target.exitCode).toBe(1);
  });
});
