// An agent that waits before anybody has asked for one.
import { until } from '#testing';
import { startPath, TURN_MS, type PathFixture } from './path-fixture.js';

let path: PathFixture;
beforeAll(async () => {
  path = await startPath({ workerEnv: { GANTRY_SPARE_AGENTS: 'true' } });
}, TURN_MS * 2);
afterAll(async () => {
  await path.close();
}, TURN_MS);

const agentsOf = (projectId: string) =>
  path.stack.database.db.client.process.findMany({
    where: { projectId, kind: 'agent' },
    orderBy: { startedAt: 'asc' },
  });

/** The spare of a project, once it has greeted. */
const spareOf = (projectId: string) =>
  until(
    'the project has a spare agent',
    async () => (await agentsOf(projectId)).find(({ state, sessionId }) => state === 'live' && sessionId === null),
    TURN_MS,
  );

const processOf = async (runId: string) =>
  (await path.stack.database.db.client.run.findUniqueOrThrow({ where: { id: runId } })).processId;

it(
  'PATH-16 joining a project starts its sandbox and a spare agent, which the first prompt takes',
  async () => {
    const projectId = await path.project();
    const spare = await spareOf(projectId);
    expect(path.client.all('event').filter((event) => event.type === 'sandbox.started')).toHaveLength(1);
    const { run_id: runId, session_id: sessionId } = await path.prompt(projectId, 'demo:remember the quay is grey');
    await path.finished(runId);
    expect(await processOf(runId)).toBe(spare.id);
    expect(path.eventsOf(runId).map(({ type }) => type)).toContain('message.result');
    expect(await path.answer(projectId, 'demo:recall')).toContain('the quay is grey');
    expect(await agentsOf(projectId)).toMatchObject([{ id: spare.id, sessionId }]);
  },
  TURN_MS * 2,
);

it(
  'PATH-16 gives a prompt with other options a process of its own, and a spare that took none of another conversation',
  async () => {
    const projectId = await path.project();
    const spare = await spareOf(projectId);
    const options = { append_system_prompt: 'Answer in rhyme.' };
    const { run_id: runId } = await path.prompt(projectId, 'demo:say hello', { options });
    await path.finished(runId);
    expect(await processOf(runId)).not.toBe(spare.id);
    expect((await agentsOf(projectId)).find(({ id }) => id === spare.id)?.state).toBe('exited');
  },
  TURN_MS * 2,
);

it(
  'PATH-16 keeps a spare over a change of workers',
  async () => {
    const projectId = await path.project();
    const spare = await spareOf(projectId);
    await path.stack.service('worker').kill('SIGKILL');
    await path.stack.start('worker');
    const { run_id: runId } = await path.prompt(projectId, 'demo:say hello again');
    await path.finished(runId);
    expect(await processOf(runId)).toBe(spare.id);
  },
  TURN_MS * 3,
);
