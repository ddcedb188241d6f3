// The logger as its readers see it: whole lines, parsed.
import { AppError } from '#kernel';
import { createLogger, type LogLevel } from './create-logger.js';
import { logError } from './log-error.js';
import { isSensitiveKey, REDACTED } from './redact-line.js';

interface Line extends Record<string, unknown> {
  level: string;
  msg: string;
}

function capture(level: LogLevel = 'trace') {
  const raw: string[] = [];
  const logger = createLogger({ service: 'test', level, destination: { write: (line) => void raw.push(line) } });
  return { logger, raw, lines: () => raw.map((line) => JSON.parse(line) as Line) };
}

const SECRET = 'S3CRET-value-that-must-not-show';

describe('createLogger', () => {
  it('OBS-1 writes one JSON line with service, level word, ISO time and message', () => {
    const { logger, raw, lines } = capture();
    logger.info({ project_id: 'p1' }, 'started');
    expect(raw).toHaveLength(1);
    expect(raw[0]).toMatch(/^\{.*\}\n$/);
    expect(lines()[0]).toMatchObject({ service: 'test', level: 'info', msg: 'started', project_id: 'p1' });
    expect(lines()[0]?.['time']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it.each([
    'token',
    'tokens',
    'accessToken',
    'api_key',
    'apiKey',
    'x-api-key',
    'ANTHROPIC_API_KEY',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'authorization',
    'Authorization',
    'cookie',
    'set-cookie',
    'password',
    'client_secret',
    'credentials',
    'prompt',
    'systemPrompt',
    'input',
    'updated_input',
    'stdin',
    'env',
    'payload',
  ])('OBS-2 keeps the value of %s out of fields, nested fields, arrays and child bindings', (key) => {
    const { logger, raw, lines } = capture();
    logger.info({ [key]: SECRET, deep: { list: [{ [key]: { inside: SECRET } }] } }, 'fields');
    logger.child({ [key]: SECRET }).debug('child');
    logger
      .child({ a: 1 })
      .child({ [key]: [SECRET] })
      .error('grandchild');
    expect(raw.join('')).not.toContain(SECRET);
    expect(lines().map((line) => line.msg)).toEqual(['fields', 'child', 'grandchild']);
    expect(lines()[1]?.[key]).toBe(REDACTED);
  });

  it.each(['input_hash', 'token_count', 'keyboard', 'monkey', 'project_id', 'message', 'key_id', 'run_id'])(
    'OBS-2 leaves %s alone',
    (key) => {
      expect(isSensitiveKey(key)).toBe(false);
    },
  );

  it('OBS-2 keeps numbers under such names, because token counts are wanted', () => {
    const { logger, lines } = capture();
    logger.info({ input_tokens: 12, has_token: true, session_token: null }, 'usage');
    expect(lines()[0]).toMatchObject({ input_tokens: 12, has_token: true, session_token: null });
  });

  it.each([
    ['postgresql://gantry:S3CRETpass@127.0.0.1:5432/gantry', 'S3CRETpass'],
    ['redis://:S3CRETpass@localhost:6379', 'S3CRETpass'],
    ['Authorization: Bearer abc.S3CRETpass-_~+/=', 'S3CRETpass'],
    ['sign in with gnt_S3CRETpassS3CRETpassS3CRETpass', 'S3CRETpass'],
    ['the key sk-ant-api03-S3CRETpassS3CRETpass was refused', 'S3CRETpass'],
  ])('OBS-3 masks %s in messages, fields and errors', (text, secret) => {
    const { logger, raw } = capture();
    logger.warn({ url: text }, text);
    logger.error({ err: new Error(text) }, 'failed');
    expect(raw.join('')).not.toContain(secret);
    expect(raw.map((line) => JSON.parse(line) as Line)).toHaveLength(2);
  });

  it('OBS-3 leaves harmless URLs and words as they are', () => {
    const { logger, lines } = capture();
    logger.info('ready http://127.0.0.1:8080/?a=b@c basic things');
    expect(lines()[0]?.msg).toBe('ready http://127.0.0.1:8080/?a=b@c basic things');
  });
});

describe('logError', () => {
  it('OBS-4 shows code, kind, details and the whole cause chain, but no secret in them', () => {
    const { logger, raw, lines } = capture();
    const root = Object.assign(new Error('connect ECONNREFUSED'), {
      code: 'ECONNREFUSED',
      config: { password: SECRET },
    });
    const middle = new AppError('host.unavailable', 'The host does not answer.', {
      cause: root,
      details: { token: SECRET },
    });
    logError(logger, new AppError('service.unavailable', 'Try again.', { cause: middle }), { run_id: 'r1' });
    expect(lines()[0]).toMatchObject({
      run_id: 'r1',
      error_code: 'service.unavailable',
      error_kind: 'unavailable',
      err: {
        name: 'AppError',
        code: 'service.unavailable',
        kind: 'unavailable',
        cause: {
          code: 'host.unavailable',
          details: { token: REDACTED },
          cause: { name: 'Error', message: 'connect ECONNREFUSED', code: 'ECONNREFUSED' },
        },
      },
    });
    expect(raw.join('')).not.toContain(SECRET);
  });

  it('OBS-4 keeps only the reason of a Prisma error, whose message quotes the arguments of the call', () => {
    const { logger, raw, lines } = capture();
    const error = new Error(
      `\nInvalid \`prisma.run.create()\` invocation:\n\n{ data: { title: "${SECRET}" } }\n\nUnique constraint failed`,
    );
    error.name = 'PrismaClientKnownRequestError';
    logError(logger, error);
    expect(lines()[0]).toMatchObject({ err: { cause: { message: 'Unique constraint failed' } } });
    expect(raw.join('')).not.toContain(SECRET);
  });

  it('OBS-4 cuts long foreign messages and survives a thrown value and a cause that contains itself', () => {
    const { logger, raw, lines } = capture();
    logError(logger, new Error('x'.repeat(50_000)));
    logError(logger, SECRET);
    const loop = new Error('loop');
    loop.cause = loop;
    logError(logger, loop);
    expect(raw).toHaveLength(3);
    expect(raw[0]?.length).toBeLessThan(10_000);
    expect(lines()[1]).toMatchObject({ error_code: 'internal.unexpected', err: { cause: { name: 'string' } } });
    expect(raw.join('')).not.toContain(SECRET);
  });

  it.each([
    ['request.invalid_payload', 'info'],
    ['service.unavailable', 'warn'],
    ['internal.unexpected', 'error'],
  ] as const)('OBS-5 logs %s at %s, as the error table says', (code, level) => {
    const { logger, lines } = capture();
    logError(logger, new AppError(code, 'Text for the client.'));
    expect(lines()[0]).toMatchObject({ level, msg: 'Text for the client.' });
  });

  it('OBS-5 treats a foreign error as internal', () => {
    const { logger, lines } = capture();
    logError(logger, new TypeError('x is not a function'));
    expect(lines()[0]).toMatchObject({
      level: 'error',
      error_code: 'internal.unexpected',
      err: { cause: { name: 'TypeError' } },
    });
    expect(JSON.stringify(lines()[0])).toContain('create-logger.spec.ts');
  });
});
