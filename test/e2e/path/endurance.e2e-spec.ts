// What a restart and a kill leave behind: nothing lost, nothing hanging.
import { SocketClient } from '#testing';
import { docker } from './docker-cli.js';
import { startPath, TURN_MS, type PathFixture } from './path-fixture.js';

let path: PathFixture;
beforeAll(async () => {
  path = await startPath();
}, TURN_MS * 2);
afterAll(async () => {
  await path.close();
}, TURN_MS);

const signIn = (): Promise<SocketClient> => SocketClient.connect(path.stack.url, { token: path.stack.adminToken });

it(
  'PATH-9 keeps projects, conversations and messages over a restart of all services',
  async () => {
    const projectId = await path.project('restarted');
    await path.answer(projectId, 'demo:remember the gate is green');
    const before = await path.client.call('get_messages', { project_id: projectId });
    const [session] = (await path.client.call('session_list', { project_id: projectId })).sessions;
    for (const name of ['gateway', 'worker', 'broker'] as const) {
      expect(await path.stack.service(name).kill('SIGTERM')).toBe(0);
    }
    for (const name of ['broker', 'worker', 'gateway'] as const) await path.stack.start(name);
    const client = await signIn();
    try {
      const { projects } = await client.call('project_list', {});
      expect(projects).toMatchObject([
        { project_id: projectId, name: 'restarted', message_count: expect.any(Number) as number },
      ]);
      expect(projects[0]?.last_message_time).toBeDefined();
      const after = await client.call('get_messages', { project_id: projectId });
      expect(after.messages).toEqual(before.messages);
      expect((await client.call('session_list', { project_id: projectId })).sessions).toEqual([session]);
      const joined = await client.call('project_join', { project_id: projectId, since_seq: before.newest_seq - 2 });
      expect(joined.events.map((event) => event.seq)).toEqual([before.newest_seq - 1, before.newest_seq]);
      const { run_id: runId } = await client.call('execute', { project_id: projectId, prompt: 'demo:recall' });
      await client.waitFor('event', (event) => event.run_id === runId && event.type === 'run.finished', TURN_MS);
      const result = client.all('event').find((event) => event.run_id === runId && event.type === 'message.result');
      expect(result?.payload['text']).toContain('the gate is green');
    } finally {
      client.close();
    }
  },
  TURN_MS * 3,
);

it(
  'PATH-10 goes on with a command and a prompt whose worker was killed',
  async () => {
    const client = await signIn();
    try {
      const ids = ['killed-command', 'killed-prompt'].map((name) => `${path.stack.projectRoot}/${name}`);
      const projects: string[] = [];
      for (const folder of ids) {
        const project = await client.call('project_create', { path: folder });
        await client.call('project_join', { project_id: project.project_id });
        projects.push(project.project_id);
      }
      const [commandProject = '', promptProject = ''] = projects;
      const command = await client.call('execute_command', {
        project_id: commandProject,
        command: 'for i in $(seq 1 60); do echo line$i; sleep 0.1; done',
      });
      const prompt = await client.call('execute', { project_id: promptProject, prompt: 'demo:slow 80 100' });
      await client.call('stream_subscribe', { stream_id: command.run_id });
      await client.waitFor('stream_data', (push) => push.stream_id === command.run_id, TURN_MS);
      await client.waitFor('delta', (delta) => delta.run_id === prompt.run_id, TURN_MS);
      await path.stack.service('worker').kill('SIGKILL');
      await path.stack.start('worker');
      const end = (runId: string) =>
        client.waitFor('event', (event) => event.run_id === runId && event.type === 'run.finished', TURN_MS);
      expect((await end(command.run_id)).payload).toMatchObject({ status: 'succeeded', exit_code: 0 });
      expect((await end(prompt.run_id)).payload).toMatchObject({ status: 'succeeded' });
      const { output } = await client.call('get_command_output', { command_session_id: `cmd-${command.run_id}` });
      expect(output).toBe(Array.from({ length: 60 }, (_, index) => `line${index + 1}\n`).join(''));
      const answers = client
        .all('event')
        .filter((event) => event.run_id === prompt.run_id && event.type === 'message.assistant');
      expect(answers).toHaveLength(1);
      expect(JSON.stringify(answers[0]?.payload['agent'])).toContain(
        Array.from({ length: 80 }, (_, index) => `w${index}`).join(' '),
      );
    } finally {
      client.close();
    }
  },
  TURN_MS * 2,
);

it(
  'PATH-14 does not touch the containers of another installation on the same engine',
  async () => {
    const other = await startPath();
    const mine = (): string[] =>
      docker('ps', '-q', '--no-trunc', '--filter', `label=gantry.project=${projectId}`)
        .split('\n')
        .filter((line) => line !== '');
    const client = await signIn();
    const project = await client.call('project_create', { path: `${path.stack.projectRoot}/beside` });
    const projectId = project.project_id;
    await client.call('project_join', { project_id: projectId });
    const run = await client.call('execute_command', { project_id: projectId, command: 'true' });
    await client.waitFor('event', (event) => event.run_id === run.run_id && event.type === 'run.finished', TURN_MS);
    const before = mine();
    expect(before).toHaveLength(1);
    const theirs = await other.project();
    expect((await other.shell(theirs, 'echo theirs')).output).toBe('theirs\n');
    await other.close(); // its worker goes down for good and stops its own containers
    expect(mine()).toEqual(before);
    client.close();
  },
  TURN_MS * 3,
);
