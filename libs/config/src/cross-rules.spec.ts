// Rules over several options, as the programs apply them.
import { AppError } from '#kernel';
import { loadBrokerConfig } from './broker.config.js';
import { isLoopback } from './cross-rules.js';
import { loadGatewayConfig } from './gateway.config.js';
import type { Environment, Problem } from './read-options.js';
import { loadWorkerConfig } from './worker.config.js';

const required = {
  DATABASE_URL: 'postgresql://db/x',
  REDIS_URL: 'redis://r',
  SANDBOX_IMAGE: 'image:1',
  SANDBOX_NODE_FILE: '/t/node',
  SANDBOX_CLAUDE_FILE: '/t/claude',
  SANDBOX_SANDBOXD_FILE: '/t/sandboxd.cjs',
};
const TLS = { CERT_FILE: '/c.pem', KEY_FILE: '/k.pem' };

function refused(load: (env: Environment) => unknown, env: Environment): string[] {
  try {
    load({ ...required, ...env });
    return [];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return (error.details as { problems: Problem[] }).problems.map(({ option }) => option);
  }
}

describe('rules over several options', () => {
  it.each([
    ['127.0.0.1', {}, []],
    ['127.8.8.8', {}, []],
    ['::1', {}, []],
    ['localhost', {}, []],
    ['0.0.0.0', {}, ['GATEWAY_HOST']],
    ['::', {}, ['GATEWAY_HOST']],
    ['localhost.example.org', {}, ['GATEWAY_HOST']],
    ['0.0.0.0', { CERT_FILE: '/c.pem' }, ['KEY_FILE', 'GATEWAY_HOST']],
    ['0.0.0.0', TLS, []],
    ['0.0.0.0', { GANTRY_ALLOW_INSECURE_BIND: '1' }, []],
  ])('CFG-7 a gateway on %s with %j is refused for %j', (GATEWAY_HOST, env, expected) => {
    expect(refused(loadGatewayConfig, { GATEWAY_HOST, ...env })).toEqual(expected);
  });

  it('CFG-7 a worker beyond loopback needs the explicit permission, TLS or not', () => {
    expect(refused(loadWorkerConfig, { WORKER_HOST: '10.0.0.5' })).toEqual(['WORKER_HOST']);
    expect(refused(loadWorkerConfig, { WORKER_HOST: '10.0.0.5', GANTRY_ALLOW_INSECURE_BIND: '1' })).toEqual([]);
  });

  it('CFG-8 certificate and key come together, with a public URL that is https', () => {
    expect(refused(loadGatewayConfig, { CERT_FILE: '/c.pem' })).toEqual(['KEY_FILE']);
    expect(refused(loadGatewayConfig, { KEY_FILE: '/k.pem' })).toEqual(['CERT_FILE']);
    expect(refused(loadGatewayConfig, { ...TLS, GANTRY_PUBLIC_URL: 'http://g.example' })).toEqual([
      'GANTRY_PUBLIC_URL',
    ]);
    expect(refused(loadGatewayConfig, { ...TLS, GANTRY_PUBLIC_URL: 'https://g.example' })).toEqual([]);
  });

  it('CFG-9 one credential at most, and no key over a plain connection', () => {
    const both = { ANTHROPIC_API_KEY: 'a', CLAUDE_CODE_OAUTH_TOKEN: 'b' };
    expect(refused(loadBrokerConfig, both)).toEqual(['CLAUDE_CODE_OAUTH_TOKEN']);
    expect(refused(loadBrokerConfig, { GANTRY_MODEL_BASE_URL: 'http://model.example' })).toEqual([
      'GANTRY_MODEL_BASE_URL',
    ]);
    expect(refused(loadBrokerConfig, { GANTRY_MODEL_BASE_URL: 'http://127.0.0.1:9' })).toEqual([]);
    expect(refused(loadBrokerConfig, { GANTRY_MODEL_BASE_URL: 'https://model.example/v' })).toEqual([]);
  });

  it('CFG-10 one Docker socket, a unix socket, with a path that the kernel takes', () => {
    const load = (env: Environment): string[] => refused(loadWorkerConfig, env);
    expect(load({ DOCKER_SOCKET: '/a.sock', DOCKER_HOST: 'unix:///b.sock' })).toEqual(['DOCKER_SOCKET']);
    expect(load({ DOCKER_SOCKET: '/a.sock', DOCKER_HOST: 'unix:///a.sock' })).toEqual([]);
    expect(load({ DOCKER_HOST: 'tcp://127.0.0.1:2375' })).toEqual(['DOCKER_HOST']);
    expect(load({ DOCKER_SOCKET: `/${'a'.repeat(106)}` })).toEqual([]);
    expect(load({ DOCKER_SOCKET: `/${'a'.repeat(107)}` })).toEqual(['DOCKER_SOCKET']);
    expect(loadWorkerConfig({ ...required, DOCKER_HOST: 'unix:///b.sock' }).docker.socketPath).toBe('/b.sock');
  });

  it('CFG-11 /tmp leaves half of the memory, and the usual timeout is within the longest', () => {
    expect(refused(loadWorkerConfig, { SANDBOX_MEMORY_MB: '1024', SANDBOX_TMP_MB: '512' })).toEqual([]);
    expect(refused(loadWorkerConfig, { SANDBOX_MEMORY_MB: '1023', SANDBOX_TMP_MB: '512' })).toEqual(['SANDBOX_TMP_MB']);
    const timeouts = { GANTRY_RUN_TIMEOUT_MS: '2000', GANTRY_RUN_TIMEOUT_MAX_MS: '1999' };
    expect(refused(loadGatewayConfig, timeouts)).toEqual(['GANTRY_RUN_TIMEOUT_MS']);
  });

  it('CFG-7 knows loopback by its address, not by its looks', () => {
    expect(['127.0.0.1.example.org', '128.0.0.1', '::ffff:1.2.3.4', ''].map(isLoopback)).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });
});
