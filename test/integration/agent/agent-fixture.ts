// Agents for real: a worker in this process on Postgres, Redis and Docker, the CLI in its container, a broker, and the demo model.
import { join } from 'node:path';
import { Secret } from '#config';
import type { EventRecord, LiveFrame, PermissionAnswer, PermissionRecord, RunRecord, SessionRecord } from '#domain';
import { newId } from '#kernel';
import { createLogger } from '#observability';
import { PgPermissionStore, PgTokenDirectory } from '#persistence';
import { type ModelStandIn, startModelStandIn, until } from '#testing';
import { BrokerServer } from '../../../apps/broker/src/broker-server.js';
import { anthropicProvider } from '../../../apps/broker/src/providers/anthropic.provider.js';
import { createUpstream } from '../../../apps/broker/src/providers/upstream.js';
import { createWorkerFixture, type FixtureOptions } from '../worker/worker-fixture.js';

const MODEL_KEY = 'sk-demo-the-real-key-0123456789';

export interface PromptRequest {
  options?: Record<string, unknown>;
  sessionId?: string;
  timeoutMs?: number;
  lane?: string;
}

export type AgentFixture = Awaited<ReturnType<typeof createAgentFixture>>;

export async function createAgentFixture(options: FixtureOptions = {}) {
  const worker = await createWorkerFixture({
    ...options,
    env: { SANDBOX_MEMORY_MB: '1536', SANDBOX_TMP_MB: '128', ...options.env },
  });
  const model = await startModelStandIn({ key: MODEL_KEY });
  const broker = await startBroker(worker, model);
  const questions = new PgPermissionStore(worker.database.db);

  const messages = async (projectId: string, runId?: string): Promise<EventRecord[]> =>
    (await worker.eventsOf(projectId)).filter((event) => runId === undefined || event.runId === runId);

  return {
    ...worker,
    model,
    modelKey: MODEL_KEY,
    questions,
    messages,
    sessionOf: async (sessionId: string | null): Promise<SessionRecord> => {
      const viewer = { userId: worker.user.userId, isAdmin: true };
      const { items } = await worker.runs.listSessions(viewer, { limit: 100 });
      const session = items.find((one) => one.sessionId === sessionId);
      if (session === undefined) throw new Error('there is no such conversation');
      return session;
    },
    /** Agent processes of a project, oldest first. */
    processesOf: async (projectId: string) => {
      const rows = await worker.database.db.run((client) =>
        client.process.findMany({ where: { projectId, kind: 'agent' }, orderBy: { startedAt: 'asc' } }),
      );
      return rows.map(({ id: processId, state, costUsd, outOffset }) => ({
        processId,
        state,
        costUsd: Number(costUsd),
        outOffset: Number(outOffset),
      }));
    },
    newProject: () => worker.project(worker.dataDir),
    prompt: async (projectId: string, prompt: string, request: PromptRequest = {}): Promise<RunRecord> => {
      const { result, announcement } = await worker.runs.enqueuePrompt({
        projectId,
        userId: worker.user.userId,
        lane: request.lane ?? 'main',
        timeoutMs: request.timeoutMs ?? 120_000,
        correlationId: newId(),
        prompt,
        options: request.options ?? {},
        ...(request.sessionId === undefined ? {} : { sessionId: request.sessionId }),
      });
      await worker.announcer.announce(announcement);
      return result.run;
    },
    /** Frames of a project from now on. */
    frames: async (projectId: string): Promise<LiveFrame[]> => {
      const frames: LiveFrame[] = [];
      await worker.bus.subscribe(projectId, (frame) => frames.push(frame));
      return frames;
    },
    /** The first open question of the project, once there is one. */
    question: (projectId: string, fits: (question: PermissionRecord) => boolean = () => true) =>
      until('a question is asked', async () => (await questions.openOf(projectId)).find(fits), 30_000),
    answer: async (question: PermissionRecord, answer: PermissionAnswer): Promise<void> => {
      const { inputHash, requestId } = question;
      const given = { ...answer, inputHash, userId: worker.user.userId };
      const { announcement } = await questions.answer(requestId, given);
      await worker.announcer.announce(announcement);
    },
    close: async () => {
      await worker.close();
      await broker.close();
      await model.close();
    },
  };
}

async function startBroker(worker: Awaited<ReturnType<typeof createWorkerFixture>>, model: ModelStandIn) {
  const broker = new BrokerServer({
    socketPath: join(worker.dataDir, 'broker', 'broker.sock'),
    providers: [
      anthropicProvider(createUpstream({ baseUrl: model.url }), { kind: 'api_key', value: new Secret(MODEL_KEY) }),
    ],
    directory: new PgTokenDirectory(worker.database.db),
    logger: createLogger({ service: 'broker', level: 'warn' }),
  });
  await broker.listen();
  return { close: () => broker.drain(1_000) };
}

/** What the agent said, in order, as one text. */
export const textOf = (events: EventRecord[]): string =>
  events
    .filter(({ type }) => type === 'message.assistant')
    .flatMap(({ payload }) => (payload['agent'] as { message: { content: { text?: string }[] } }).message.content)
    .map(({ text }) => text ?? '')
    .join('');
