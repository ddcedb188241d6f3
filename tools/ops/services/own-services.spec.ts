// What each service is given.
import { environmentFor } from '#config';
import { dataLayout } from '../data-layout.ts';
import { fingerprintOf } from '../supervisor/service-spec.ts';
import { baseEnvironment, ownServices, type ServicePlan } from './own-services.ts';
import { probeUrl } from './readiness.ts';

const user = {
  ANTHROPIC_API_KEY: 'sk-model-key',
  CLAUDE_CODE_OAUTH_TOKEN: 'oauth-model-key',
  DATABASE_URL: 'postgresql://from-the-user/x',
  GATEWAY_PORT: '1',
  SOME_CLOUD_SECRET: 'cloud-secret',
  PATH: '/bin',
  LOG_LEVEL: 'debug',
};
const plan: ServicePlan = {
  layout: dataLayout('/d', 0),
  databaseUrl: 'postgresql://chosen/x',
  redisUrl: 'redis://chosen',
  dockerSocket: '/docker.sock',
  sandboxImage: 'image:1',
  tools: { folder: '/d/tools/abc', node: '/n', claude: '/c', sandboxd: '/s' },
  projectRoots: ['/p', '/q'],
  gateway: { host: '127.0.0.1', port: 7430 },
  worker: { host: '127.0.0.1', port: 7431 },
  demo: undefined,
  version: 'v1',
};
const specsOf = (changed: Partial<ServicePlan> = {}) =>
  ownServices({ ...plan, ...changed }, (program) => environmentFor(program, user), baseEnvironment(user));
const named = (name: string, specs = specsOf()) => {
  const spec = specs.find((candidate) => candidate.name === name);
  if (!spec) throw new Error(`no ${name}`);
  return spec;
};

describe("Gantry's own services", () => {
  it('OPS-11 only the broker has model keys, and nobody has what is no option', () => {
    const holders = (secret: string) => specsOf().filter((spec) => JSON.stringify(spec).includes(secret));
    expect(holders('sk-model-key').map(({ name }) => name)).toEqual(['broker']);
    expect(holders('oauth-model-key').map(({ name }) => name)).toEqual(['broker']);
    expect(holders('cloud-secret')).toEqual([]);
    expect(named('gateway').env).toMatchObject({ PATH: '/bin', LOG_LEVEL: 'debug' });
  });

  it('OPS-11 nobody else has the key of the demo model, and clients are told of it', () => {
    const specs = specsOf({ demo: { port: 7424, key: 'demo-key' } });
    const holders = specs.filter((spec) => JSON.stringify(spec).includes('demo-key')).map(({ name }) => name);
    expect(holders).toEqual(['broker']);
    expect(named('demo-model', specs).argv).toContain('/d/secrets/demo-model-key');
    const renewed = specsOf({ demo: { port: 7424, key: 'another' } });
    expect(fingerprintOf(named('demo-model', renewed))).not.toBe(fingerprintOf(named('demo-model', specs)));
    expect(named('broker', specs).env).toMatchObject({ GANTRY_MODEL_BASE_URL: 'http://127.0.0.1:7424' });
    expect(JSON.stringify(specs)).not.toMatch(/sk-model-key|oauth-model-key/); // the user's are not for it
    expect(named('gateway', specs).env['GANTRY_DEMO_MODEL']).toBe('1');
    expect(named('gateway').env['GANTRY_DEMO_MODEL']).toBe('0');
  });

  it('OPS-11 no argument holds a secret, because every user of the machine can read arguments', () => {
    for (const { argv } of specsOf()) expect(argv.join(' ')).not.toMatch(/key|chosen|postgres/i);
  });

  it('runs on what was found or chosen, whatever the user named', () => {
    expect(named('gateway').env).toMatchObject({ DATABASE_URL: 'postgresql://chosen/x', GATEWAY_PORT: '7430' });
    expect(named('worker').env).toMatchObject({ GANTRY_PROJECT_ROOTS: '/p:/q', DOCKER_SOCKET: '/docker.sock' });
  });

  it.each([
    ['0.0.0.0', false, 'http://127.0.0.1:1/readyz'],
    ['::', false, 'http://[::1]:1/readyz'],
    ['fe80::1', true, 'https://[fe80::1]:1/readyz'],
    ['127.0.0.1', false, 'http://127.0.0.1:1/readyz'],
  ])('asks a service that listens on %s at an address that can be reached', (host, tls, url) => {
    expect(probeUrl(host, 1, tls)).toBe(url);
  });
});
