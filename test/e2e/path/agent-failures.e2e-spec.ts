// An agent that is missing, fails, dies in the middle of a line, or whose model refuses: a clear error, and the lane goes on.
import { join } from 'node:path';
import { startPath, TURN_MS, type PathFixture } from './path-fixture.js';

const agent = (name: string): string => join(process.cwd(), 'test', 'fixtures', 'agents', name);

it.each([
  ['not-executable.txt', 'agent.not_installed'],
  ['exits-with-1.sh', 'agent.crashed'],
  ['dies-in-a-line.sh', 'agent.crashed'],
])(
  'PATH-12 ends a run whose CLI is %s with %s, and the lane goes on',
  async (file, code) => {
    const path: PathFixture = await startPath({ workerEnv: { SANDBOX_CLAUDE_FILE: agent(file) } });
    try {
      const projectId = await path.project();
      const { run_id: runId } = await path.prompt(projectId, 'hello');
      const next = path.shell(projectId, 'echo goes on');
      const end = await path.finished(runId);
      expect(end.payload).toMatchObject({ status: 'failed', error: { code } });
      expect((await next).output).toBe('goes on\n');
      const [project] = (await path.client.call('project_list', {})).projects;
      expect(project?.state).toBe('IDLE');
    } finally {
      await path.close();
    }
  },
  TURN_MS * 2,
);

it(
  'PATH-12 ends a run whose model refuses with what the model said, and the conversation goes on',
  async () => {
    const path = await startPath();
    try {
      const projectId = await path.project();
      const { run_id: runId } = await path.prompt(projectId, 'demo:error 403');
      expect((await path.finished(runId)).payload).toMatchObject({
        status: 'failed',
        error: { code: 'agent.model_error' },
      });
      expect(await path.answer(projectId, 'demo:say back again')).toContain('back again');
    } finally {
      await path.close();
    }
  },
  TURN_MS * 2,
);
