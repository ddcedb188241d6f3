// Readable log lines, made of what the services' logger really writes.
import { createLogger } from '#observability';
import { readableLines } from './log-line.ts';

const plain = (line: string): string[] => readableLines(line, { colour: false });

/** What a service's logger writes to its log, without the line feed. */
function logged(write: (logger: ReturnType<typeof createLogger>) => void): string {
  let text = '';
  write(createLogger({ service: 'worker', level: 'debug', destination: { write: (line) => void (text += line) } }));
  return text.trimEnd();
}

describe('a readable log line', () => {
  it('OPS-27 shows time, level, message and fields', () => {
    const [line, ...rest] = plain(logged((logger) => logger.warn({ run_id: 'r1', waits: { queue: 3 } }, 'a slow run')));
    expect(line).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}Z WARN {2}a slow run run_id=r1 waits={"queue":3}$/);
    expect(rest).toEqual([]);
  });

  it('OPS-27 shows an error with its frames and causes below its line', () => {
    const error = new Error('no way', { cause: new TypeError('because') });
    const [line, ...rest] = plain(logged((logger) => logger.error({ err: error }, 'it failed')));
    expect(line).toMatch(/ ERROR it failed$/);
    expect(rest[0]).toBe('    error: Error: no way');
    expect(rest[1]).toMatch(/^ {6}at /);
    expect(rest).toContain('    caused by: TypeError: because');
  });

  it.each([
    'LOG:  database system is ready',
    '{"half": ',
    '{"time": 1, "level": 30, "msg": "of another logger"}',
    '[1]',
    '',
  ])('OPS-27 leaves %j as it is', (line) => {
    expect(plain(line)).toEqual([line]);
  });

  it('OPS-27 lets nothing of a log reach the terminal as a control sequence', () => {
    const evil = '\u001b[2Jgone\nINFO forged\u009b31m';
    const lines = [
      ...plain(logged((logger) => logger.info({ path: evil, err: new Error(evil) }, evil))),
      ...plain(`LOG: ${evil}`),
    ];
    for (const line of lines) expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
  });

  it('OPS-27 colours on a terminal only', () => {
    const line = logged((logger) => logger.info('hello'));
    expect(readableLines(line, { colour: true })[0]).toContain('\u001b[32mINFO ');
    expect(plain(line)[0]).not.toContain('\u001b');
  });
});
