// The broker as the process that runs in production, on Postgres: started, stopped, replaced, behind a proxy, and asked by the real CLI.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import {
  createTestDatabase,
  type ModelStandIn,
  selfSignedCertificate,
  type ServiceProcess,
  spawnService,
  startModelStandIn,
  type TestDatabase,
  testEnv,
  waitUntilReady,
} from '#testing';
import { call, open, prompt, read, REAL_KEY, TOKEN } from './broker-harness.js';
import { ProcessRows } from './process-rows.js';

let database: TestDatabase;
let rows: ProcessRows;
let standIn: ModelStandIn;
let folder: string;
const services: ServiceProcess[] = [];
const servers: Server[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  rows = await ProcessRows.create(database.url);
  await rows.addProcess(TOKEN);
});
afterAll(async () => {
  await rows.close();
  await database.close();
});
beforeEach(async () => {
  standIn = await startModelStandIn({ key: REAL_KEY });
  folder = mkdtempSync(join(tmpdir(), 'brk-'));
});
afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.kill()));
  for (const server of servers.splice(0)) {
    server.close();
    await once(server, 'close');
  }
  await standIn.close();
  rmSync(folder, { recursive: true });
});

const socketPath = (): string => join(folder, 'run', 'b.sock');

function spawnBroker(env: Record<string, string> = {}): ServiceProcess {
  const service = spawnService({
    name: 'broker',
    env: {
      DATABASE_URL: database.url,
      GANTRY_DATA_DIR: folder,
      BROKER_SOCKET: socketPath(),
      ANTHROPIC_API_KEY: REAL_KEY,
      GANTRY_MODEL_BASE_URL: standIn.url,
      ...env,
    },
  });
  services.push(service);
  return service;
}

async function startBroker(env: Record<string, string> = {}): Promise<ServiceProcess> {
  const service = spawnBroker(env);
  await service.waitForLine(/"msg":"listening"/);
  await waitUntilReady(service, { socketPath: socketPath(), path: '/readyz' });
  return service;
}

async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

describe('the broker process', () => {
  it('BRK-17 ends with 0 after SIGTERM, when its last stream has ended', async () => {
    const service = await startBroker();
    const answer = await open(socketPath(), { body: prompt('demo:slow 20 25') });
    service.signal('SIGTERM');
    const { text } = await read(answer);
    expect(text).toContain('"w19"');
    expect(text).toContain('message_stop');
    expect(await service.exited).toBe(0);
    expect(service.lines.join('\n')).not.toContain(REAL_KEY);
  });

  it('BRK-17 ends at once at the second signal', async () => {
    const service = await startBroker();
    const answer = await open(socketPath(), { body: prompt('demo:hang 1') });
    const broken = expect(read(answer)).rejects.toThrow();
    service.signal('SIGTERM');
    await service.waitForLine(/"msg":"draining"/);
    expect(await service.kill('SIGTERM')).toBe(1);
    await broken;
  });

  it('BRK-16 is replaced by another while a stream runs: nothing breaks, nothing is refused', async () => {
    const old = await startBroker();
    const running = await open(socketPath(), { body: prompt('demo:slow 20 25') });
    const text = read(running);
    const next = await startBroker();
    old.signal('SIGTERM');
    expect((await call(socketPath(), { body: prompt('demo:say a') })).status).toBe(200);
    expect((await text).text).toContain('"w19"');
    expect(await old.exited).toBe(0);
    const path = '/broker/anthropic/v1/messages/count_tokens';
    expect((await call(socketPath(), { path, body: prompt('demo:say a') })).status).toBe(200);
    await next.waitForLine(/"route":"messages"/);
    await next.waitForLine(/"route":"count_tokens"/);
  });

  it('BRK-16 is back after a kill, on the socket that the dead one left', async () => {
    const first = await startBroker();
    await first.kill('SIGKILL');
    await expect(call(socketPath(), {})).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await startBroker();
    expect((await call(socketPath(), { body: prompt('demo:say a') })).status).toBe(200);
  });

  it.each([
    ['a model URL that would carry the key in the clear', { GANTRY_MODEL_BASE_URL: 'http://api.example.com' }],
    ['a key that no header can carry', { ANTHROPIC_API_KEY: 'sk-secret value' }],
    ['two credentials', { CLAUDE_CODE_OAUTH_TOKEN: 'oat-secret-value' }],
  ])('BRK-15 does not start with %s, and does not show it', async (_name, env) => {
    const service = spawnBroker(env);
    expect(await service.exited).toBe(1);
    const log = service.lines.join('\n');
    expect(log).toContain('config.invalid');
    expect(log).not.toMatch(/secret.value|the-real-key/);
  });

  it('BRK-16 does not start in a folder that others can write', async () => {
    mkdirSync(join(folder, 'run'));
    chmodSync(join(folder, 'run'), 0o777);
    const service = spawnBroker();
    expect(await service.exited).toBe(1);
    expect(service.lines.join('\n')).toContain('writable by its owner only');
  });
});

describe('the way to an https upstream', () => {
  const HOST = 'model.example';

  /** TLS in front of the stand-in. */
  async function tlsUpstream(): Promise<{ port: number; caFile: string }> {
    const { cert, key } = selfSignedCertificate(HOST);
    const { port: plain } = new URL(standIn.url);
    const port = await listen(
      createTlsServer({ cert, key }, (near) => {
        const far = connect(Number(plain), '127.0.0.1');
        near.on('error', () => far.destroy()).on('close', () => far.destroy());
        far.on('error', () => near.destroy()).on('close', () => near.destroy());
        near.pipe(far).pipe(near);
      }),
    );
    const caFile = join(folder, 'ca.pem');
    writeFileSync(caFile, cert);
    return { port, caFile };
  }

  /** A proxy that knows one host, and tells what it was asked. */
  async function proxy(target: number, status = 200): Promise<{ url: string; asked: string[] }> {
    const asked: string[] = [];
    const server = createHttpServer((_request, response) => response.writeHead(500).end());
    server.on('connect', (request, near) => {
      asked.push(`${request.url ?? ''} ${request.headers['proxy-authorization'] ?? ''}`);
      near.on('error', () => near.destroy());
      if (status !== 200) return void near.end(`HTTP/1.1 ${status} No\r\nContent-Length: 6\r\n\r\nsecret`);
      const far = connect(target, '127.0.0.1', () => {
        near.write('HTTP/1.1 200 OK\r\n\r\n');
        near.pipe(far).pipe(near);
      });
      near.on('close', () => far.destroy());
      far.on('error', () => near.destroy()).on('close', () => near.destroy());
    });
    const port = await listen(server);
    return { url: `http://user:pass@127.0.0.1:${port}`, asked };
  }

  it('BRK-15 leads through the proxy, trusts the extra authority, and is kept for the next request', async () => {
    const { port, caFile } = await tlsUpstream();
    const { url, asked } = await proxy(port);
    const service = await startBroker({
      GANTRY_MODEL_BASE_URL: `https://${HOST}`,
      HTTPS_PROXY: url,
      NODE_EXTRA_CA_CERTS: caFile,
    });
    for (let count = 0; count < 2; count += 1) {
      const answer = await call(socketPath(), { body: prompt('demo:slow 3 10') });
      expect(answer.status).toBe(200);
      expect(answer.text).toContain('message_stop');
    }
    expect(asked).toEqual([`${HOST}:443 Basic ${Buffer.from('user:pass').toString('base64')}`]);
    expect(standIn.requests()[0]!.headers).toMatchObject({ host: HOST, 'x-api-key': REAL_KEY });
    expect(standIn.requests()[0]!.headers).not.toHaveProperty('proxy-authorization');
    expect(service.lines.join('\n')).not.toContain('pass');
  });

  it('BRK-15 ends at an upstream whose certificate nobody vouches for', async () => {
    const { port } = await tlsUpstream();
    const { url } = await proxy(port);
    await startBroker({ GANTRY_MODEL_BASE_URL: `https://${HOST}`, HTTPS_PROXY: url });
    const answer = await call(socketPath(), { body: prompt('demo:say a') });
    expect(answer.status).toBe(503);
    expect(answer.text).toContain('broker.upstream_failed');
    expect(standIn.requests()).toHaveLength(0);
  });

  it.each([403, 407])('BRK-15 ends at a proxy that says %p, whose words do not reach the caller', async (status) => {
    const { url } = await proxy(0, status);
    await startBroker({ GANTRY_MODEL_BASE_URL: `https://${HOST}`, HTTPS_PROXY: url });
    const answer = await call(socketPath(), { body: prompt('demo:say a') });
    expect(answer.status).toBe(503);
    expect(answer.text).toContain(`The proxy refused the connection (${status}). (broker.upstream_failed)`);
    expect(answer.text).not.toContain('secret');
  });
});

describe('the real CLI through the broker', () => {
  interface CliRun {
    code: number | null;
    output: string;
    events: { type: string; [field: string]: unknown }[];
  }

  /** Forwards a loopback port to the socket, as sandboxd does in a sandbox, and runs `claude -p` on it. */
  async function claude(...args: string[]): Promise<CliRun> {
    const port = await listen(
      createTcpServer((near) => {
        const far = connect(socketPath());
        near.on('error', () => far.destroy()).on('close', () => far.destroy());
        far.on('error', () => near.destroy()).on('close', () => near.destroy());
        near.pipe(far).pipe(near);
      }),
    );
    const home = join(folder, 'home');
    mkdirSync(home, { recursive: true });
    const child = spawn(testEnv().toolFiles.claude, ['-p', '--output-format', 'stream-json', '--verbose', ...args], {
      cwd: home,
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: home,
        ANTHROPIC_BASE_URL: `http://localhost:${port}/broker/anthropic`,
        ANTHROPIC_API_KEY: TOKEN,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
    const [code] = (await once(child, 'close')) as [number | null];
    const lines = output.split('\n').filter((line) => line.startsWith('{'));
    return { code, output, events: lines.map((line) => JSON.parse(line) as CliRun['events'][number]) };
  }

  const resultOf = ({ events }: CliRun): unknown => events.find(({ type }) => type === 'result')?.['result'];
  const statuses = (): unknown[] => standIn.requests().map(({ status }) => status);

  beforeEach(async () => {
    await startBroker();
  });

  it('BRK-21, DEMO-20 gets a text, and the real key nowhere', async () => {
    const run = await claude('demo:say through the broker');
    expect(run.code).toBe(0);
    expect(resultOf(run)).toBe('through the broker');
    expect(run.output).not.toContain(REAL_KEY);
    expect(standIn.requests().every(({ headers }) => headers['x-api-key'] === REAL_KEY)).toBe(true);
  });

  it('BRK-21, DEMO-20 thinks, uses tools, and streams partial messages', async () => {
    const run = await claude(
      'demo:think I should look\ndemo:bash echo one ;; echo two',
      '--include-partial-messages',
      '--allowedTools',
      'Bash',
    );
    expect(resultOf(run)).toBe('Bash answered:\n\none\n\nBash answered:\n\ntwo');
    expect(JSON.stringify(run.events)).toContain('"thinking":"I should look"');
    const deltas = run.events.filter(({ type }) => type === 'stream_event');
    expect(deltas.length).toBeGreaterThan(10);
  });

  it('BRK-21, DEMO-20 tries again after 529 and after a stream that broke off', async () => {
    const run = await claude('demo:error 529 1\ndemo:cut 1 2\ndemo:long 6');
    expect(resultOf(run)).toBe('w0 w1 w2 w3 w4 w5');
    expect(statuses()).toEqual([529, 200, 200]);
    expect(standIn.requests()[1]!.outcome).toBe('cut');
  });

  it('BRK-21 is told clearly when its token ended with its process', async () => {
    const { processId } = await rows.addProcess('an-ended-token');
    await rows.endProcess(processId);
    const answer = await call(socketPath(), { headers: [['x-api-key', 'an-ended-token']], body: prompt('x') });
    expect(answer.status).toBe(401);
  });
});
