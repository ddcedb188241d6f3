// Nest's calling conventions, each as Nest 12 really uses it, and the wide line of a run.
import { createLogger } from './create-logger.js';
import { NestLoggerAdapter } from './nest-logger.adapter.js';
import { logRunLine, type RunLine } from './run-line.js';

function capture() {
  const raw: string[] = [];
  const logger = createLogger({
    service: 'test',
    level: 'trace',
    destination: { write: (line) => void raw.push(line) },
  });
  return { logger, lines: () => raw.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

describe('NestLoggerAdapter', () => {
  it('OBS-6 maps the levels, with start-up chatter at debug', () => {
    const { logger, lines } = capture();
    const nest = new NestLoggerAdapter(logger);
    nest.log('Mapped route', 'RouterExplorer');
    nest.warn('careful', 'Ctx');
    nest.debug('detail');
    nest.verbose('more');
    nest.fatal('over');
    expect(lines().map((line) => line['level'])).toEqual(['debug', 'warn', 'debug', 'trace', 'fatal']);
    expect(lines()[0]).toMatchObject({ msg: 'Mapped route', nest_context: 'RouterExplorer' });
  });

  it('OBS-6 tells a stack from a context and keeps an error with its causes', () => {
    const { logger, lines } = capture();
    const nest = new NestLoggerAdapter(logger);
    nest.error('broken', 'Error: broken\n    at here (file.ts:1:1)', 'ExceptionHandler');
    nest.error(new Error('outer', { cause: new Error('inner') }), 'ExceptionsHandler');
    expect(lines()[0]).toMatchObject({ level: 'error', msg: 'broken', nest_context: 'ExceptionHandler' });
    expect(lines()[0]?.['stack']).toContain('file.ts:1:1');
    expect(lines()[1]).toMatchObject({ msg: 'outer', err: { message: 'outer', cause: { message: 'inner' } } });
  });
});

describe('logRunLine', () => {
  it('OBS-7 writes one line with every field, nulls included, and redacts none of them', () => {
    const { logger, lines } = capture();
    const line: RunLine = {
      run_id: 'r',
      project_id: 'p',
      session_id: null,
      kind: 'prompt',
      status: 'failed',
      correlation_id: 'c',
      host_id: 'h',
      queue_wait_ms: 4,
      sandbox_ms: 300,
      first_output_ms: 410,
      active_ms: 1200,
      cost_usd: 0.0023,
      exit_code: 1,
      error_code: 'agent.crashed',
    };
    logRunLine(logger, line);
    expect(lines()).toHaveLength(1);
    expect(lines()[0]).toMatchObject({ ...line, level: 'info' });
  });
});
