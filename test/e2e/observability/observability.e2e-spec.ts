// What operators see of the real processes: their logs, their metrics, their health, and one id through all of it.
import { get, type RequestOptions } from 'node:http';
import { join } from 'node:path';
import { newId } from '#kernel';
import { SocketClient, testEnv } from '#testing';
import { startPath, TURN_MS, type PathFixture } from '../path/path-fixture.js';

const SERVICES = ['gateway', 'worker', 'broker'] as const;
type Line = Record<string, unknown>;

let path: PathFixture;
beforeAll(async () => {
  path = await startPath();
}, TURN_MS * 2);
afterAll(async () => {
  await path.close();
}, TURN_MS);

const rawLines = (): string[] => SERVICES.flatMap((name) => path.stack.service(name).lines);
const linesOf = (name: (typeof SERVICES)[number]): Line[] =>
  path.stack.service(name).lines.map((line) => JSON.parse(line) as Line);

async function page(options: RequestOptions): Promise<{ status: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const request = get(options, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      response.on('end', () => resolve({ status: response.statusCode, body }));
    });
    request.on('error', reject);
  });
}
const pageAt = (base: string, path_: string) => {
  const { hostname, port } = new URL(base);
  return page({ hostname, port, path: path_ });
};

/** Runs one prompt to its end and waits until the worker has said so in its log. */
async function finishedRun(projectId: string, prompt: string): Promise<{ runId: string; line: Line }> {
  const { run_id: runId } = await path.prompt(projectId, prompt);
  await path.finished(runId);
  const line = await path.stack.service('worker').waitForLine(new RegExp(`"run_id":"${runId}".*"run finished"`));
  return { runId, line: JSON.parse(line) as Line };
}

async function refusedConnection(token: string): Promise<void> {
  const attempt = SocketClient.connect(path.stack.url, { token });
  await expect(attempt).rejects.toMatchObject({ code: 'auth.token_invalid' });
}

it(
  'OBS-16 keeps prompts, answers, commands, output, payloads and tokens out of every log, at debug too',
  async () => {
    const projectId = await path.project();
    const words = ['prompt', 'tool', 'command', 'option', 'payload', 'token'] as const;
    const [prompt, tool, command, option, payload, token] = words.map((word) => `mark-${word}-${newId()}`);
    await finishedRun(projectId, `demo:say ${prompt}`);
    await path.answer(projectId, `demo:bash echo ${tool}`, {
      options: { permission_mode: 'bypassPermissions', append_system_prompt: option },
    });
    expect(await path.shell(projectId, `echo ${command}; echo ${command} >&2; exit 3`)).toMatchObject({ exitCode: 3 });
    await path.client.refusal('project_create', { path: `/../${payload}`, [String(payload)]: payload });
    await path.client.refusal(String(payload), {});
    await refusedConnection(`gnt_${token}`);
    const log = rawLines().join('\n');
    for (const mark of [prompt, tool, command, option, token, path.stack.adminToken]) expect(log).not.toContain(mark);
    // The name of an unknown event is the client's own word, and none of its payload.
    expect(log.split(String(payload)).length - 1).toBeLessThanOrEqual(1);
  },
  TURN_MS,
);

it(
  'OBS-19 writes nothing but log lines, warnings of packages too',
  async () => {
    const projectId = await path.project();
    // The Agent SDK warns that nobody will be asked.
    await path.answer(projectId, 'demo:say warned', { options: { permission_mode: 'bypassPermissions' } });
    await path.stack.service('worker').waitForLine(/"level":"warn".*"warning of Node"/);
    expect(rawLines().filter((line) => !line.startsWith('{'))).toEqual([]);
  },
  TURN_MS,
);

it(
  'OBS-20 names every field in snake_case',
  async () => {
    const projectId = await path.project();
    await finishedRun(projectId, 'demo:say spelled');
    const lines = rawLines().map((line) => JSON.parse(line) as Line);
    const fields = new Set(lines.flatMap((line) => Object.keys(line)));
    expect(fields).toContain('container_id');
    expect([...fields].filter((field) => !/^[a-z][a-z0-9_]*$/.test(field))).toEqual([]);
  },
  TURN_MS,
);

it(
  'OBS-17 carries one correlation id from the request through the run to the container',
  async () => {
    const projectId = await path.project();
    const { runId, line } = await finishedRun(projectId, 'demo:say traced');
    const id = line['correlation_id'];
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(linesOf('gateway').find((each) => each['correlation_id'] === id)).toMatchObject({
      event: 'execute',
      code: 'ok',
    });
    const row = await path.stack.database.db.client.run.findUniqueOrThrow({ where: { id: runId } });
    expect(row.correlationId).toBe(id);
    const filters = encodeURIComponent(JSON.stringify({ label: [`gantry.project=${projectId}`] }));
    const { body } = await page({ socketPath: testEnv().dockerSocket, path: `/containers/json?filters=${filters}` });
    const [container] = JSON.parse(body) as { Labels: Record<string, string> }[];
    expect(Object.entries(container?.Labels ?? {}).find(([name]) => name.endsWith('correlation_id'))?.[1]).toBe(id);
    expect(line).toMatchObject({
      level: 'info',
      project_id: projectId,
      kind: 'prompt',
      status: 'succeeded',
      error_code: null,
      host_id: expect.any(String) as string,
      queue_wait_ms: expect.any(Number) as number,
      sandbox_ms: expect.any(Number) as number,
      first_output_ms: expect.any(Number) as number,
      active_ms: expect.any(Number) as number,
      cost_usd: expect.any(Number) as number,
    });
  },
  TURN_MS,
);

it(
  'OBS-18 shows health and metrics on gateway, worker and broker, and health over the socket',
  async () => {
    const projectId = await path.project();
    await finishedRun(projectId, 'demo:say counted');
    await refusedConnection('wrong');
    const gateway = await pageAt(path.stack.url, '/metrics');
    expect(gateway.body).toMatch(/^gantry_connections\{service="gateway"\} [1-9]/m);
    expect(gateway.body).toMatch(/^gantry_errors_total\{code="auth.token_invalid",service="gateway"\} [1-9]/m);
    const worker = await pageAt(path.stack.workerUrl, '/metrics');
    expect(worker.body).toMatch(/^gantry_run_duration_seconds_count\{.*kind="prompt",status="succeeded".*\} [1-9]/m);
    expect(worker.body).toMatch(/^gantry_run_wait_seconds_count\{.*kind="prompt".*\} [1-9]/m);
    expect(worker.body).toMatch(/^gantry_events_committed_total\{service="worker"\} [1-9]/m);
    const socketPath = join(path.stack.dataDir, 'broker', 'broker.sock');
    expect((await page({ socketPath, path: '/metrics' })).body).toContain('service="broker"');
    for (const target of ['/healthz', '/readyz']) {
      expect((await pageAt(path.stack.url, target)).status).toBe(200);
      expect((await pageAt(path.stack.workerUrl, target)).status).toBe(200);
      expect((await page({ socketPath, path: target })).status).toBe(200);
    }
    expect(await path.client.call('health', {})).toMatchObject({ status: 'ok' });
  },
  TURN_MS,
);

it(
  'OBS-18 shows a queue while it waits, by host and state',
  async () => {
    const projectId = await path.project();
    const { run_id: first } = await path.prompt(projectId, 'demo:slow 1000 100');
    const { run_id: second } = await path.prompt(projectId, 'demo:say later');
    const { body } = await pageAt(path.stack.url, '/metrics');
    expect(body).toMatch(/^gantry_queue_depth\{host="[0-9a-f-]{36}",state="queued",service="gateway"\} 1$/m);
    await path.client.call('run_cancel', { run_id: second });
    await path.client.call('run_cancel', { run_id: first });
    await path.finished(first);
    const after = await pageAt(path.stack.url, '/metrics');
    expect(after.body).not.toMatch(/^gantry_queue_depth/m);
  },
  TURN_MS,
);
