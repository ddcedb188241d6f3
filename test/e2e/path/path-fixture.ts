// One stack for a file of tests, a project for each, and the words that these tests use most.
import { newId } from '#kernel';
import type { EventInfo } from '#protocol';
import { SocketClient, startStack, type Stack, type StackOptions } from '#testing';

/** A turn of the real CLI, with its container, takes seconds on a busy machine. */
export const TURN_MS = 60_000;

export interface PathFixture {
  stack: Stack;
  client: SocketClient;
  /** Creates a project and joins it. */
  project(name?: string): Promise<string>;
  prompt(projectId: string, prompt: string, more?: object): Promise<{ run_id: string; session_id: string }>;
  /** Events of a run so far, in order. */
  eventsOf(runId: string): EventInfo[];
  finished(runId: string): Promise<EventInfo>;
  /** Sends a prompt and waits for its end; throws when it does not succeed. */
  answer(projectId: string, prompt: string, more?: object): Promise<string>;
  /** Runs a shell command to its end and gives its exit code and output. */
  shell(projectId: string, command: string): Promise<{ exitCode: number | undefined; output: string }>;
  close(): Promise<void>;
}

export async function startPath(options: StackOptions = {}): Promise<PathFixture> {
  const stack = await startStack(options);
  const client = await SocketClient.connect(stack.url, { token: stack.adminToken, clientId: 'path-tests' }).catch(
    async (error: unknown) => {
      await stack.close();
      throw error;
    },
  );
  const finished = (runId: string): Promise<EventInfo> =>
    client.waitFor(
      'event',
      (event) => event.run_id === runId && (event.type === 'run.finished' || event.type === 'run.cancelled'),
      TURN_MS,
    );
  const eventsOf = (runId: string): EventInfo[] => client.all('event').filter((event) => event.run_id === runId);
  const prompt: PathFixture['prompt'] = (projectId, text, more = {}) =>
    client.call('execute', { project_id: projectId, prompt: text, ...more });
  return {
    stack,
    client,
    prompt,
    eventsOf,
    finished,
    async project(name = newId()) {
      const project = await client.call('project_create', { path: `${stack.projectRoot}/${name}` });
      await client.call('project_join', { project_id: project.project_id });
      return project.project_id;
    },
    async answer(projectId, text, more = {}) {
      const { run_id: runId } = await prompt(projectId, text, more);
      const end = await finished(runId);
      if (end.payload['status'] !== 'succeeded') throw new Error(`the run ended: ${JSON.stringify(end.payload)}`);
      const result = eventsOf(runId).find((event) => event.type === 'message.result');
      return String(result?.payload['text']);
    },
    async shell(projectId, command) {
      const { run_id: runId, command_session_id: id } = await client.call('execute_command', {
        project_id: projectId,
        command,
      });
      await finished(runId);
      const { output, exit_code: exitCode } = await client.call('get_command_output', { command_session_id: id });
      return { exitCode, output };
    },
    async close() {
      client.close();
      await stack.close();
    },
  };
}

export const typesOf = (events: EventInfo[]): string[] => events.map((event) => event.type);
