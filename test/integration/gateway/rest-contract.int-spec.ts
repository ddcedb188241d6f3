// The running gateway against its own description: every route, and whatever input somebody may think of.
import { join } from 'node:path';
import fc from 'fast-check';
import { newId } from '#kernel';
import { type ProjectInfo, REST_ROUTE_NAMES, type RestRouteName, restRoute, type RunInfo } from '#protocol';
import { GatewayFixture, type RunningGateway } from './gateway-fixture.js';
import { RestClient } from './rest-client.js';
import { ContractClient, type OpenApi, RestContract } from './rest-contract.js';

let fixture: GatewayFixture;
let gateway: RunningGateway;
let contract: RestContract;
let admin: ContractClient;

beforeAll(async () => {
  fixture = await GatewayFixture.create();
  gateway = await fixture.gateway();
  contract = new RestContract(await new RestClient(gateway, null).json<OpenApi>('GET', '/openapi.json'));
  admin = new ContractClient(gateway, contract);
});
afterAll(() => fixture.close());

const project = (): Promise<ProjectInfo> =>
  admin.json('POST', '/projects', { body: { path: join(fixture.root, newId()), options: { model: 'sonnet' } } });

const run = (projectId: string, body: object): Promise<RunInfo> =>
  admin.json('POST', `/projects/${projectId}/runs`, { body });

it('REST-14 answers every route as it is described', async () => {
  const { project_id } = await project();
  const prompt = await run(project_id, { kind: 'prompt', prompt: 'x', options: { permission_mode: 'plan' } });
  const claimed = await fixture.host.claim(prompt.run_id);
  await fixture.host.append(claimed, 2);
  const command = await run(project_id, { kind: 'command', command: ['ls', '-l'] });
  await fixture.host.finish(claimed);
  const started = await fixture.host.claim(command.run_id);
  await (await fixture.host.startProcess(started)).write('output');
  await fixture.host.finish(started);

  await admin.json('GET', '/projects');
  await admin.json('GET', `/projects/${project_id}`);
  await admin.json('PATCH', `/projects/${project_id}`, { body: { name: 'named', options: { max_turns: 3 } } });
  await admin.json('GET', '/sessions');
  await admin.json('GET', `/projects/${project_id}/sessions`);
  await admin.json('GET', `/sessions/${prompt.session_id ?? ''}`);
  await admin.json('GET', `/projects/${project_id}/runs?limit=1`);
  await admin.json('GET', `/runs/${command.run_id}`);
  await admin.json('GET', `/projects/${project_id}/messages?after_seq=0&limit=500`);
  await admin.ask('GET', `/projects/${project_id}/messages.jsonl`);
  await admin.ask('GET', `/runs/${command.run_id}/output`);
  await admin.ask('GET', `/runs/${command.run_id}/output`, { headers: { range: 'bytes=0-2' } });
  await admin.refusal('GET', `/runs/${command.run_id}/output`, { headers: { range: 'bytes=100-' } });
  const last = await run(project_id, { kind: 'command', command: 'true', parallel: true });
  await admin.json('POST', `/runs/${last.run_id}/cancel`);
  await fixture.host.finish(await fixture.host.claim(last.run_id));
  await admin.json('GET', '/health');
  await admin.ask('GET', '/openapi.json');
  await admin.ask('GET', '/docs');
  await admin.ask('DELETE', `/projects/${project_id}`);

  const answered = (name: RestRouteName) => [...(contract.seen.get(name) ?? [])].some((status) => status < 300);
  expect(REST_ROUTE_NAMES.filter((name) => !answered(name))).toEqual([]);
});

it('REST-15 serves the description of what it serves, and a page of it without scripts, to everybody', async () => {
  const nobody = new RestClient(gateway, null);
  const document = await nobody.json<OpenApi>('GET', '/openapi.json');
  expect(document.openapi).toBe('3.1.1');
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => [operationId, method.toUpperCase(), path]),
  );
  expect(described.sort()).toEqual(
    REST_ROUTE_NAMES.map((name) => [name, restRoute(name).method, restRoute(name).path]).sort(),
  );
  const page = await nobody.ask('GET', '/docs');
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(page.body).not.toMatch(/<script|\son\w+=|https?:\/\//i);
  for (const [operationId] of described) expect(page.body).toContain(`id="${operationId ?? ''}"`);
});

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('', '..', '%', '\0', '-1', '1e9', '9007199254740993', 'true', 'null', '0000-01-01T00:00:00.000Z'),
);
const scalar = fc.oneof(text, fc.integer(), fc.double(), fc.boolean(), fc.constant(null));
/** Looks like one of ours. */
const cursor = fc
  .tuple(
    fc.oneof(
      text,
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    ),
    fc.oneof(text, fc.uuid()),
  )
  .map((key) => Buffer.from(JSON.stringify(key)).toString('base64url'));
const FIELDS = [
  'limit',
  'cursor',
  'status',
  'after_seq',
  'before_seq',
  'since',
  'session_id',
  'wait',
  'surprise',
  '__proto__',
];
const BODY_FIELDS = [
  ...['path', 'name', 'image', 'options', 'kind', 'prompt', 'command', 'session_id', 'lane', 'working_directory'],
  ...['parallel', 'timeout_ms', 'priority', 'if_busy', 'project_id', 'settings', 'constructor', '__proto__'],
];

const asked = fc.record({
  name: fc.constantFrom(...REST_ROUTE_NAMES),
  method: fc.option(fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'), { freq: 5, nil: undefined }),
  known: fc.boolean(),
  id: text,
  query: fc.dictionary(fc.constantFrom(...FIELDS), fc.oneof(text, cursor, fc.nat(50).map(String)), { maxKeys: 3 }),
  body: fc.oneof(
    fc.dictionary(fc.constantFrom(...BODY_FIELDS), fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.object())),
    fc.record({ kind: fc.constantFrom('prompt', 'command'), prompt: text, command: fc.oneof(text, fc.array(text)) }),
    fc.jsonValue(),
    text.map((garbage) => ({ garbage })),
  ),
  headers: fc.dictionary(
    fc.constantFrom('idempotency-key', 'range', 'if-range', 'if-none-match', 'content-type', 'content-encoding'),
    fc.oneof(fc.string({ unit: 'grapheme-ascii', maxLength: 30 }), fc.constant('application/json')),
    { maxKeys: 2 },
  ),
});

it('REST-16 answers any input below 500, and as it is described', async () => {
  const { project_id } = await project();
  const { run_id, session_id = '' } = await run(project_id, { kind: 'prompt', prompt: 'x' });
  const ids = { project_id, run_id, session_id };
  await fc.assert(
    fc.asyncProperty(asked, async ({ name, method, known, id, query, body, headers }) => {
      const route = restRoute(name);
      const filled = route.path.replaceAll(/\{(\w+)\}/g, (_, parameter: keyof typeof ids) =>
        encodeURIComponent(known ? ids[parameter] : `x${id}`),
      );
      const verb = method ?? route.method;
      const payload = typeof body === 'object' && body !== null && 'garbage' in body ? body.garbage : body;
      const { status } = await admin.ask(verb, `${filled}?${new URLSearchParams(query).toString()}`, {
        headers,
        ...(verb === 'GET' || verb === 'HEAD' ? {} : { body: payload ?? 'null' }),
      });
      expect(status).toBeLessThan(500);
    }),
    { numRuns: 500, endOnFailure: false },
  );
});
