// How the environment becomes values: all problems together, no value shown, and only the program's own options.
import { inspect } from 'node:util';
import fc from 'fast-check';
import { AppError } from '#kernel';
import { loadBrokerConfig } from './broker.config.js';
import { loadGatewayConfig } from './gateway.config.js';
import { loadMakeConfig } from './make.config.js';
import { OPTIONS } from './options.js';
import { environmentFor, type Environment, type Problem, type ValuesOf } from './read-options.js';
import { loadWorkerConfig } from './worker.config.js';

const storage = { DATABASE_URL: 'postgresql://u:hunter2@db/x', REDIS_URL: 'redis://:hunter2@r:6379/0' };
const sandbox = {
  SANDBOX_IMAGE: 'image:1',
  SANDBOX_NODE_FILE: '/t/node',
  SANDBOX_CLAUDE_FILE: '/t/claude',
  SANDBOX_SANDBOXD_FILE: '/t/sandboxd.cjs',
};

function problemsOf(load: () => unknown): Problem[] {
  try {
    load();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    expect(error.code).toBe('config.invalid');
    const { problems } = error.details as { problems: Problem[] };
    for (const { option, problem } of problems) expect(error.message).toContain(`${option} ${problem}`);
    return problems;
  }
  return [];
}

const optionsOf = (load: () => unknown): string[] => problemsOf(load).map(({ option }) => option);

describe('reading options', () => {
  it('CFG-1 reports what is missing, what is wrong and what does not fit together, all at once', () => {
    const env = { GATEWAY_PORT: 'high', CERT_FILE: '/c.pem', LOG_LEVEL: 'loud', GANTRY_MAX_MESSAGE_BYTES: '5' };
    expect(optionsOf(() => loadGatewayConfig(env)).sort()).toEqual([
      'DATABASE_URL',
      'GANTRY_MAX_MESSAGE_BYTES',
      'GATEWAY_PORT',
      'KEY_FILE',
      'LOG_LEVEL',
      'REDIS_URL',
    ]);
  });

  it('CFG-2 keeps every value out of messages and details', () => {
    const wrong = fc.constantFrom(...Object.keys(OPTIONS));
    // Letters that no message of ours is made of, so that finding the value means that it was printed.
    const value = fc.string({ unit: fc.constantFrom('ж', 'ц', 'ю', ' '), minLength: 4, maxLength: 20 });
    fc.assert(
      fc.property(fc.dictionary(wrong, value), (env) => {
        for (const load of [loadGatewayConfig, loadWorkerConfig, loadBrokerConfig]) {
          const problems = problemsOf(() => load(env));
          for (const text of Object.values(env)) expect(JSON.stringify(problems)).not.toContain(text);
        }
      }),
    );
  });

  it('CFG-2 prints a configuration without its secrets', () => {
    const config = loadBrokerConfig({
      ...storage,
      ANTHROPIC_API_KEY: 'sk-hunter2',
      HTTPS_PROXY: 'http://u:hunter2@p:1',
    });
    const printed =
      JSON.stringify(config) + inspect(config, { depth: 9, showHidden: true }) + String(config.database.url);
    expect(printed).not.toContain('hunter2');
    expect(printed).toContain('[secret]');
    expect(config.model.credential?.value.reveal()).toBe('sk-hunter2');
  });

  it('CFG-3 checks pairs while other options are wrong, and leaves out values that are wrong themselves', () => {
    const env = { ...storage, GATEWAY_PORT: '-1', GATEWAY_HOST: '0.0.0.0', GANTRY_ALLOW_INSECURE_BIND: '1' };
    expect(optionsOf(() => loadGatewayConfig(env))).toEqual(['GATEWAY_PORT']);
    expect(optionsOf(() => loadGatewayConfig({ ...env, GANTRY_ALLOW_INSECURE_BIND: '0' }))).toContain('GATEWAY_HOST');
    expect(optionsOf(() => loadGatewayConfig({ ...storage, GATEWAY_HOST: 'a b' }))).toEqual(['GATEWAY_HOST']);
  });

  it('CFG-4 refuses a GANTRY_ variable that is no option, and takes an empty one as unset', () => {
    const load = (env: Environment) => () => loadGatewayConfig({ ...storage, ...env });
    expect(optionsOf(load({ GANTRY_MAX_MESAGE_BYTES: '5000' }))).toEqual(['GANTRY_MAX_MESAGE_BYTES']);
    expect(optionsOf(load({ GATEWAY_PORT: '', CERT_FILE: '', PATH: '/bin' }))).toEqual([]);
    expect(load({ GATEWAY_PORT: '' })()).toMatchObject({ http: { port: 7420, tls: undefined } });
  });

  it('CFG-5 gives model keys to the broker alone', () => {
    type GatewayReadsKeys = 'ANTHROPIC_API_KEY' extends keyof ValuesOf<'gateway'> ? true : false;
    const gatewayReadsKeys: GatewayReadsKeys = false;
    expect(gatewayReadsKeys).toBe(false);
    const env = { ANTHROPIC_API_KEY: 'k', CLAUDE_CODE_OAUTH_TOKEN: 't', DATABASE_URL: 'd', PATH: '/bin', HOME: '' };
    expect(environmentFor('gateway', env)).toEqual({ DATABASE_URL: 'd' });
    expect(environmentFor('worker', env)).toEqual({ DATABASE_URL: 'd' });
    expect(Object.keys(environmentFor('broker', env)).sort()).toEqual([
      'ANTHROPIC_API_KEY',
      'CLAUDE_CODE_OAUTH_TOKEN',
      'DATABASE_URL',
    ]);
  });

  it('lets make go on without what it makes itself', () => {
    const config = loadMakeConfig({}, '/checkout/data');
    expect(config).toMatchObject({ dataDir: '/checkout/data', databaseUrl: undefined });
    expect(config.logs).toEqual({ maxBytes: 10_485_760, files: 5 });
    expect(config.model).toEqual({ credential: undefined, demoAsked: false });
    expect(config.projectRoots).toEqual(['/checkout/data/projects']);
    expect(loadMakeConfig({ ANTHROPIC_API_KEY: 'k' }, '/d').model.credential).toBe('ANTHROPIC_API_KEY');
    expect(loadMakeConfig({ CLAUDE_CODE_OAUTH_TOKEN: 'k', GANTRY_DEMO_MODEL: '1' }, '/d').model).toEqual({
      credential: 'CLAUDE_CODE_OAUTH_TOKEN',
      demoAsked: true,
    });
  });

  it('fills in what follows from the data folder', () => {
    const config = loadWorkerConfig({ ...storage, ...sandbox, GANTRY_DATA_DIR: '/data/' });
    expect(config.projectRoots).toEqual(['/data/projects']);
    expect(config.broker.socketPath).toBe('/data/broker/broker.sock');
    expect(config.docker.socketPath).toBe('/var/run/docker.sock');
    expect(config.sandbox.limits).toMatchObject({ memoryBytes: 2_147_483_648, tmpBytes: 536_870_912, cpus: 2 });
  });
});
