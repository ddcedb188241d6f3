// One turn of the real CLI with many approvals, and the worker is killed at each of them, at another moment of the question's life each time.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { equal, type Finding, type Ground, never, noted, type Scenario } from '../scenario.ts';
import type { ChaosStack } from '../stack/chaos-stack.ts';
import { EventViewer } from '../stack/event-viewer.ts';
import { Load } from '../stack/load.ts';

const MOMENTS = ['asked', 'answered', 'at work'] as const;

async function killHolder(stack: ChaosStack): Promise<void> {
  const { worker, epoch } = await stack.holder();
  await stack.kill(worker);
  const replaced = stack.startWorker();
  await stack.holder(epoch);
  await replaced;
}

async function run({ random, size, stack: newStack, say }: Ground): Promise<Finding[]> {
  const approvals = size(12, MOMENTS.length);
  const stack = await newStack({ agents: true, workerEnv: { GANTRY_LEASE_MS: '1500' } });
  const load = await Load.open(stack, random, 1);
  const [project] = load.projects;
  if (project === undefined) throw new Error('there is no project');
  const { projectId, folder, client } = project;
  const viewer = new EventViewer(stack, 'asker', projectId);
  await viewer.socket.ready;
  const commands = Array.from({ length: approvals }, (_, index) => `echo ${index} >> answered; sleep 0.${index % 5}`);
  const { run_id: runId } = await client.call('execute', {
    project_id: projectId,
    prompt: `demo:think hard\ndemo:bash ${commands.join(' ;; ')}`,
    idempotency_key: 'the-turn',
  });
  for (let round = 0; round < approvals; round += 1) {
    const questions = (): typeof viewer.events => viewer.events.filter(({ type }) => type === 'permission.requested');
    await viewer.when(`question ${round + 1}`, () => questions().length > round);
    const requestId = String(questions()[round]?.payload['request_id']);
    const moment = MOMENTS[round % MOMENTS.length];
    if (moment === 'asked') await killHolder(stack);
    const { input_hash: inputHash } = await client.call('permission_get', { request_id: requestId });
    await client.call('permission_respond', { request_id: requestId, input_hash: inputHash, behavior: 'allow' });
    if (moment === 'at work') {
      const done = (): boolean => existsSync(join(folder, 'answered')) && answered(folder).length > round;
      await viewer.when('the command runs', done);
    }
    if (moment !== 'asked') await killHolder(stack);
    if (round % 4 === 3) say(`${round + 1} of ${approvals} approvals`);
  }
  const end = await viewer.when('the turn ends', ({ type, run_id: id }) => type === 'run.finished' && id === runId);
  const processes = await stack.database.db.client.process.count({ where: { projectId, kind: 'agent' } });
  const uuids = viewer.events.flatMap(({ payload }) => (payload['agent'] as { uuid?: string } | undefined)?.uuid ?? []);
  return [
    noted('approvals, kills', `${approvals}, ${approvals}`),
    equal('the turn ends as', 'succeeded', String(end.payload['status'])),
    equal('commands executed, in order', commands.map((_, index) => index).join(' '), answered(folder).join(' ')),
    equal('questions asked', approvals, viewer.events.filter(({ type }) => type === 'permission.requested').length),
    equal('agent processes', 1, processes),
    equal('messages stored twice', 0, uuids.length - new Set(uuids).size),
    never('faults that the viewer saw in its events', viewer.faults),
  ];
}

const answered = (folder: string): string[] =>
  readFileSync(join(folder, 'answered'), 'utf8')
    .split('\n')
    .filter((line) => line !== '');

export const torture: Scenario = {
  name: 'torture',
  summary: 'One turn with many approvals, and the worker is killed at each.',
  run,
};
