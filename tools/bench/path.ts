// npm run bench:path - the way of a prompt and of a command through the whole product, against `docker exec` of the same programs
// in the same container, in the same run. Prints ratios; asserts nothing. Needs the test environment and a build (`make test` makes both).
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { startStack, testEnv, type Stack, until } from '#testing';
import { bareWarmTurns } from './bare-warm.ts';
import { BenchClient, type WireEvent } from './bench-client.ts';
import { dockerExec } from './docker-exec.ts';
import { median, report, type Measured } from './statistics.ts';

const { values } = parseArgs({
  options: {
    turns: { type: 'string', default: '7' },
    commands: { type: 'string', default: '30' },
    help: { type: 'boolean' },
  },
});
if (values.help === true) {
  console.log('usage: npm run bench:path -- [--turns 7] [--commands 30]');
  process.exit(0);
}
const TURNS = Number(values.turns);
const COMMANDS = Number(values.commands);
const PROMPT = 'demo:say one two three four five';

interface Turn {
  first: number;
  total: number;
}

async function gantryTurn(client: BenchClient, projectId: string): Promise<Turn> {
  const first = client.when<{ block_type: string }>('delta', (delta) => delta.block_type === 'text');
  const last = client.when<WireEvent>('event', (event) => event.type === 'run.finished');
  const started = performance.now();
  await client.call('execute', { project_id: projectId, prompt: PROMPT });
  const finished = await last;
  if (finished.payload.payload['status'] !== 'succeeded') {
    throw new Error(`the run ended ${JSON.stringify(finished.payload.payload)}`);
  }
  return { first: (await first).at - started, total: finished.at - started };
}

async function gantryCommand(client: BenchClient, projectId: string): Promise<number> {
  const started = performance.now();
  const first = client.when<unknown>('stream_data', () => true);
  const ended = client.when<WireEvent>('event', (event) => event.type === 'run.finished');
  const { run_id: streamId } = await client.call('execute_command', { project_id: projectId, command: ['echo', 'hi'] });
  await client.call('stream_subscribe', { stream_id: streamId });
  const { at } = await first;
  await ended;
  return at - started;
}

/**
 * A process row of its own, so that the broker knows the baseline's token as it knows an agent's. It belongs to a host that no worker
 * holds: the worker would find out that this process is not in its sandbox and end the row.
 */
async function baselineToken(stack: Stack): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  const { client } = stack.database.db;
  const [hostId, projectId, sandboxId] = [randomUUID(), randomUUID(), randomUUID()];
  await client.host.create({ data: { id: hostId, engineId: 'baseline' } });
  const common = { id: projectId, hostId, name: 'baseline', path: '/baseline', createdBy: randomUUID() };
  await client.project.create({ data: { ...common, sandbox: { create: { id: sandboxId, hostId } } } });
  await client.process.create({
    data: {
      id: randomUUID(),
      projectId,
      sandboxId,
      kind: 'agent',
      state: 'live',
      fingerprint: 'baseline',
      tokenHash: createHash('sha256').update(token).digest('hex'),
    },
  });
  return token;
}

/** Joining has started a sandbox and an agent; a person takes longer to write a prompt than they to start. */
const spareReady = (stack: Stack, projectId: string): Promise<unknown> =>
  until('the spare agent is ready', async () => {
    const where = { projectId, kind: 'agent', state: 'live', sessionId: null };
    return (await stack.database.db.client.process.findFirst({ where })) ?? undefined;
  });

const containerOf = (projectId: string, socket: string): string =>
  execFileSync('docker', ['-H', `unix://${socket}`, 'ps', '-q', '--filter', `label=gantry.project=${projectId}`])
    .toString()
    .trim();

async function measure(stack: Stack): Promise<{ measured: Measured[]; readyMs: number[] }> {
  const client = await BenchClient.connect(stack.url, stack.adminToken);
  const socket = testEnv().dockerSocket;
  const readyMs: number[] = [];
  const firstTurns: Turn[] = [];
  const laterTurns: Turn[] = [];
  let projectId = '';
  for (let index = 0; index < Math.max(2, Math.ceil(TURNS / 2)); index += 1) {
    const project = await client.call('project_create', { path: `${stack.projectRoot}/bench-${index}` });
    projectId = String(project['project_id']);
    const ready = client.when<WireEvent>('event', (event) => event.type === 'sandbox.started');
    await client.call('project_join', { project_id: projectId });
    await spareReady(stack, projectId);
    await gantryCommand(client, projectId); // wakes the sandbox, so that turns are compared with a running container
    readyMs.push(Number((await ready).payload.payload['ready_ms']));
    firstTurns.push(await gantryTurn(client, projectId));
    laterTurns.push(await gantryTurn(client, projectId));
  }
  while (laterTurns.length < TURNS) laterTurns.push(await gantryTurn(client, projectId));
  const commands: number[] = [];
  for (let index = 0; index < COMMANDS; index += 1) commands.push(await gantryCommand(client, projectId));

  const container = containerOf(projectId, socket);
  const env = {
    HOME: '/tmp/baseline',
    PATH: '/opt/gantry/bin:/usr/local/bin:/usr/bin:/bin',
    ANTHROPIC_BASE_URL: 'http://localhost:8082/broker/anthropic',
    ANTHROPIC_API_KEY: await baselineToken(stack),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  };
  const exec = { user: '1000:1000', socket };
  const stream = ['--output-format', 'stream-json', '--verbose', '--include-partial-messages'];
  const bareFirst: Turn[] = [];
  const bareResumed: Turn[] = [];
  for (let index = 0; index < TURNS; index += 1) {
    const run = { ...exec, env, until: /"text_delta"/ };
    const first = await dockerExec(container, { ...run, argv: ['claude', '-p', PROMPT, ...stream] });
    bareFirst.push({ first: first.firstByteMs, total: first.totalMs });
    const session = /"session_id":"([^"]+)"/.exec(first.output)?.[1] ?? '';
    const again = await dockerExec(container, {
      ...run,
      argv: ['claude', '-p', PROMPT, '--resume', session, ...stream],
    });
    bareResumed.push({ first: again.firstByteMs, total: again.totalMs });
  }
  const bareWarm = await bareWarmTurns(container, { ...exec, env, prompt: PROMPT, turns: TURNS });
  const bareCommands: number[] = [];
  for (let index = 0; index < COMMANDS; index += 1) {
    bareCommands.push((await dockerExec(container, { ...exec, argv: ['echo', 'hi'] })).firstByteMs);
  }
  client.close();
  const first = (turns: Turn[]): number[] => turns.map((turn) => turn.first);
  const total = (turns: Turn[]): number[] => turns.map((turn) => turn.total);
  const once = 'docker exec claude -p';
  const resumed = 'docker exec claude -p --resume';
  const warm = 'a bare claude fed on stdin';
  return {
    readyMs,
    measured: [
      { what: 'first turn, first token', gantry: first(firstTurns), baseline: first(bareFirst), baselineName: once },
      { what: 'first turn, total', gantry: total(firstTurns), baseline: total(bareFirst), baselineName: once },
      {
        what: 'later turn, first token',
        gantry: first(laterTurns),
        baseline: first(bareResumed),
        baselineName: resumed,
      },
      { what: 'later turn, total', gantry: total(laterTurns), baseline: total(bareResumed), baselineName: resumed },
      { what: 'first turn, first token', gantry: first(firstTurns), baseline: first(bareWarm), baselineName: warm },
      { what: 'later turn, first token', gantry: first(laterTurns), baseline: first(bareWarm), baselineName: warm },
      { what: 'later turn, total', gantry: total(laterTurns), baseline: total(bareWarm), baselineName: warm },
      { what: 'command, first byte', gantry: commands, baseline: bareCommands, baselineName: 'docker exec echo' },
    ],
  };
}

const stack = await startStack({
  env: { LOG_LEVEL: 'warn' },
  workerEnv: { GANTRY_SPARE_AGENTS: 'true', GANTRY_MAX_WARM_AGENTS: '16' },
});
try {
  const { measured, readyMs } = await measure(stack);
  console.log(report(measured));
  console.log(`sandbox ready: ${median(readyMs).toFixed(0)} ms (n=${readyMs.length})`);
} finally {
  await stack.close();
}
