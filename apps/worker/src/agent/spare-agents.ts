// An agent that was started before anybody asked for it, so that the first turn of a conversation does not wait for a program to start
// (R7). It has greeted and holds no conversation; the first prompt of a new one takes it. It waits among the warm agents, which end it
// when it is idle for too long.
import { randomBytes } from 'node:crypto';
import type {
  ExecutionStore,
  HostLease,
  ProcessOutput,
  ProcessRecord,
  ProjectRecord,
  SandboxConnection,
  SpareStore,
} from '#domain';
import { AppError, isAppError, newId } from '#kernel';
import { logError, type Logger } from '#observability';
import { within } from '../timing/within.js';
import type { AgentDriver, AgentPlan, AgentSession } from './agent-driver.port.js';
import { RunAgentHost } from './agent-host.js';
import { sha256 } from './canonical-json.js';
import { LineSplitter } from './line-splitter.js';
import type { WarmAgents } from './warm-agents.js';

export interface SpareAgentsParts {
  store: SpareStore;
  executions: Pick<ExecutionStore, 'processEnded'>;
  agent: AgentDriver;
  warm: Pick<WarmAgents, 'release' | 'end'>;
  /** Most idle agents of the host, spares and warm ones together; 0 starts none. */
  most: number;
  /** The connection to the project's sandbox, which is started if need be. */
  connect(project: ProjectRecord, sandboxId: string): Promise<SandboxConnection>;
  logger: Logger;
}

const CWD = '/workspace';
/** How long a program may take to start and greet, ms. */
const GREETING_MS = 30_000;

export class SpareAgents {
  readonly #waking = new Map<string, Promise<void>>();

  constructor(private readonly parts: SpareAgentsParts) {}

  /** Starts a spare if the project has use for one. Never rejects: without a spare the first turn is only slower. */
  async wake(project: ProjectRecord, lease: HostLease): Promise<void> {
    const { projectId } = project;
    const waking =
      this.#waking.get(projectId) ??
      this.#start(project, lease)
        .catch((error: unknown) => this.#report(error, projectId))
        .finally(() => this.#waking.delete(projectId));
    this.#waking.set(projectId, waking);
    await waking;
  }

  /** Resolves when none is being started any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#waking.values());
  }

  async #start(project: ProjectRecord, lease: HostLease): Promise<void> {
    const { store, agent, most } = this.parts;
    if (most === 0) return;
    const place = await store.sandboxForSpare(project.projectId, lease, most);
    if (place === undefined) return;
    const wishes = { run: {}, session: { model: null, permissionMode: null }, project: project.options, cwd: CWD };
    const plan = agent.plan(wishes);
    if (!plan.reusable) return;
    const connection = await this.parts.connect(project, place.sandboxId);
    const token = randomBytes(32).toString('hex');
    const process = await store.beginSpare(lease, {
      processId: newId(),
      projectId: project.projectId,
      sandboxId: place.sandboxId,
      fingerprint: plan.fingerprint,
      tokenHash: sha256(token),
      bootId: connection.bootId,
    });
    try {
      await this.#greet({ connection, process, plan, token });
    } catch (error) {
      await this.#giveUp(connection, process, lease);
      throw error;
    }
  }

  async #greet(spare: { connection: SandboxConnection; process: ProcessRecord; plan: AgentPlan; token: string }) {
    const { connection, process, plan, token } = spare;
    const { processId, epoch } = process;
    const host = new RunAgentHost(connection);
    const session = await this.parts.agent.open(plan, host, { kind: 'launch', token, resume: null });
    try {
      const { argv, env } = await Promise.race([host.command, session.ready.then(() => host.command)]);
      const info = await connection.start({ processId, argv, env, cwd: plan.cwd, stdin: 'pipe', epoch });
      host.processStarted(process);
      const outOffset = await hearGreeting(session, await connection.attach(processId, { fromOffset: 0, epoch }));
      const fence = { processId, processEpoch: epoch };
      await this.parts.store.spareReady(fence, { pid: info.pid, bootId: connection.bootId, outOffset });
      await connection.acknowledge(processId, { offset: outOffset, epoch });
      this.parts.warm.release(processId, session);
    } catch (error) {
      session.close();
      throw error;
    } finally {
      host.close();
    }
  }

  /** Nobody knows it yet, so it ends here; what cannot be done now, reconciling does. */
  async #giveUp(connection: SandboxConnection, process: ProcessRecord, lease: HostLease): Promise<void> {
    try {
      const ended = await this.parts.warm.end(connection, process);
      const guard = { processEpoch: process.epoch, lease };
      await this.parts.executions.processEnded(process.processId, { state: ended ? 'exited' : 'lost' }, guard);
      if (ended) await connection.forget(process.processId, { epoch: process.epoch });
    } catch (error) {
      this.#report(error, process.projectId);
    }
  }

  #report(error: unknown, projectId: string): void {
    // Options that no agent can start with are told to who sends the prompt.
    if (isAppError(error) && error.code === 'agent.options_invalid') return;
    logError(this.parts.logger, error, { doing: 'start a spare agent', project_id: projectId });
  }
}

/** Delivers what it says until it has answered the greeting; gives the offset behind the last whole line. */
async function hearGreeting(session: AgentSession, output: ProcessOutput): Promise<number> {
  output.ended.catch(() => undefined);
  const splitter = new LineSplitter();
  let offset = 0;
  const greeting = { answered: false };
  const hearing = (async () => {
    void session.ready.then(
      () => {
        greeting.answered = true;
        output.close();
      },
      () => output.close(),
    );
    for await (const chunk of output) {
      if (chunk.channel !== 'stdout') continue;
      for (const line of splitter.push(chunk)) {
        session.deliver(line.text);
        offset = line.endOffset;
      }
    }
  })();
  const inTime = await within(GREETING_MS, hearing, () => undefined);
  output.close();
  if (!inTime || !greeting.answered)
    throw new AppError('agent.protocol', 'A spare agent did not answer when it was greeted.');
  return offset;
}
