// An agent asks, and then everything around it is restarted: gateways, workers, Redis, Postgres, the broker. Somebody else answers later, at
// another gateway, and the same process goes on.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { equal, type Finding, type Ground, never, type Scenario } from '../scenario.ts';
import type { ChaosStack } from '../stack/chaos-stack.ts';
import { EventViewer } from '../stack/event-viewer.ts';
import { Load } from '../stack/load.ts';
import type { PostgresProcess } from '../stack/postgres-process.ts';

/** What the sandbox itself says about the agents that run in it: their process ids and start times, one line each. */
const AGENTS = `for p in /proc/[0-9]*; do
  tr '\\0' ' ' < $p/cmdline 2>/dev/null | grep -Eq '^(/opt/gantry/bin/)?claude ' && echo "\${p#/proc/} $(cut -d' ' -f22 $p/stat)"
done; true`;

async function restartEverything(stack: ChaosStack, postgres: PostgresProcess): Promise<void> {
  const dying = [...stack.gateways, ...stack.workers].filter(({ alive }) => alive);
  await Promise.all(dying.map((each) => stack.kill(each)));
  await Promise.all([stack.redis.kill(), postgres.stop('crash'), stack.killOther('broker')]);
  await Promise.all([stack.redis.start(), postgres.start()]);
  await stack.startOther('broker');
  await Promise.all([stack.startWorker(), stack.startWorker(), stack.startGateway(), stack.startGateway()]);
  await stack.holder();
}

async function run({ random, size, stack: newStack, postgres }: Ground): Promise<Finding[]> {
  const rounds = size(3, 1);
  const stack = await newStack({ gateways: 2, agents: true });
  const load = await Load.open(stack, random, 1);
  const [project] = load.projects;
  if (project === undefined) throw new Error('there is no project');
  const { projectId, folder, client } = project;
  const commands = Array.from({ length: rounds }, (_, index) => `echo ${index} >> answered`);
  const asker = new EventViewer(stack, 'asker', projectId);
  await asker.socket.ready;
  const { run_id: runId } = await client.call('execute', {
    project_id: projectId,
    prompt: `demo:bash ${commands.join(' ;; ')}`,
    idempotency_key: 'the-question',
  });
  let agents: string | undefined;
  const findings: Finding[] = [];
  const asked = new Set<string>();
  for (let round = 0; round < rounds; round += 1) {
    const requestOf = (payload: Record<string, unknown>): string => String(payload['request_id']);
    const question = await asker.when(
      'the agent asks',
      ({ type, payload }) => type === 'permission.requested' && !asked.has(requestOf(payload)),
    );
    const requestId = requestOf(question.payload);
    asked.add(requestId);
    agents ??= await load.look(project, AGENTS);
    await restartEverything(stack, postgres);
    // Somebody who was never there before, at whichever gateway.
    const other = stack.socket(`other/${round}`);
    const { input_hash: inputHash } = await other.call('permission_get', { request_id: requestId });
    const answer = { request_id: requestId, input_hash: inputHash, behavior: 'allow' };
    const { first } = await other.call('permission_respond', answer);
    const { first: again } = await client.call('permission_respond', { ...answer, behavior: 'deny' });
    findings.push(
      equal('first answer counts, a later one does not', 'true, false', `${String(first)}, ${String(again)}`),
    );
  }
  const end = await asker.when('the turn ends', ({ type, run_id: id }) => type === 'run.finished' && id === runId);
  const done = join(folder, 'answered');
  const expected = commands.map((_, index) => `${index}\n`).join('');
  return [
    ...findings,
    equal('the turn ends as', 'succeeded', String(end.payload['status'])),
    equal('agents in the sandbox, before and after', agents ?? 'none', await load.look(project, AGENTS)),
    equal('agents that were there', 1, (agents ?? '').split('\n').filter((line) => line !== '').length),
    equal('each command was executed once', expected, existsSync(done) ? readFileSync(done, 'utf8') : 'never'),
    equal('questions asked', rounds, asker.events.filter(({ type }) => type === 'permission.requested').length),
    never('faults that the asker saw in its events', asker.faults),
  ];
}

export const questionOutlivesEverything: Scenario = {
  name: 'question-outlives-everything',
  summary: 'A question waits while gateways, workers, Redis, Postgres and broker are restarted.',
  run,
};
