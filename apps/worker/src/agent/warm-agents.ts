// Agent processes that wait for the next prompt of their conversation (R7): kept within a number and an age, ended by closing
// their stdin. What is live is read from the database; only the sessions over them are kept here.
import type { ExecutionStore, HostLease, ProcessRecord, SandboxConnection } from '#domain';
import { type Clock, isAppError } from '#kernel';
import { logError, type Logger } from '#observability';
import { stopProcess, STOP_STEPS, type StopSteps } from '../runs/stop-ladder.js';
import { within } from '../timing/within.js';
import type { AgentSession } from './agent-driver.port.js';

export interface WarmAgentsParts {
  executions: Pick<ExecutionStore, 'idleAgents' | 'processEnded'>;
  /** A connection to a sandbox that runs; undefined when it does not. Throws when nobody can tell. */
  connectionTo(sandboxId: string): Promise<SandboxConnection | undefined>;
  /** How long an idle agent is kept, ms. */
  idleMs: number;
  /** Most idle agents on the host; the one idle for longest goes first. */
  most: number;
  clock: Clock;
  logger: Logger;
  steps?: StopSteps;
}

/** How long an agent may take to end after its stdin was closed, ms. */
const END_MS = 5_000;

export class WarmAgents {
  readonly #sessions = new Map<string, AgentSession>();
  /** Processes that a run of this worker uses or is about to use. */
  readonly #reserved = new Set<string>();
  readonly #ending = new Map<string, Promise<void>>();

  constructor(private readonly parts: WarmAgentsParts) {}

  /** Keeps the process from being ended until `release`; waits for an ending that began before. Gives the session over it. */
  async reserve(processId: string): Promise<AgentSession | undefined> {
    this.#reserved.add(processId);
    await this.#ending.get(processId);
    return this.#take(processId);
  }

  /** The run is done with the process; the session, if given, waits for the next one. */
  release(processId: string, session?: AgentSession): void {
    this.#reserved.delete(processId);
    if (session !== undefined) this.#sessions.set(processId, session);
  }

  /** Whether the process waits here for the next prompt. */
  keeps(processId: string): boolean {
    return this.#sessions.has(processId);
  }

  /** Ends the agents that are idle for too long or too many. One that cannot be ended now is left for the next time. */
  async sweep(lease: HostLease): Promise<void> {
    const idle = await this.parts.executions.idleAgents(lease.hostId);
    const oldest = this.parts.clock.now().getTime() - this.parts.idleMs;
    const surplus = Math.max(0, idle.length - this.parts.most);
    const due = idle.filter((process, index) => index < surplus || process.lastUsedAt.getTime() <= oldest);
    for (const process of due) {
      if (this.#reserved.has(process.processId)) continue;
      const ending = this.#evict(process, lease).catch((error: unknown) => {
        logError(this.parts.logger, error, { doing: 'end idle agent', process_id: process.processId });
      });
      this.#ending.set(process.processId, ending);
      await ending;
      this.#ending.delete(process.processId);
    }
  }

  /** Ends an agent that no run uses: closes its stdin, stops it if it does not end by itself, forgets its spool. */
  async retire(connection: SandboxConnection, process: ProcessRecord, lease: HostLease): Promise<void> {
    this.#take(process.processId)?.close();
    const ended = await this.end(connection, process);
    const guard = { processEpoch: process.epoch, lease };
    await this.parts.executions.processEnded(process.processId, { state: ended ? 'exited' : 'lost' }, guard);
    if (ended) await connection.forget(process.processId, { epoch: process.epoch });
  }

  /** Waits until the process is gone. False when it was not there. Output that it still writes is read and dropped. */
  async end(connection: SandboxConnection, { processId, epoch, outOffset }: ProcessRecord): Promise<boolean> {
    try {
      await connection.closeInput(processId, { epoch });
      const output = await connection.attach(processId, { fromOffset: outOffset, epoch });
      const exited = (async () => {
        for await (const _chunk of output) continue;
        await output.ended;
      })();
      const inTime = await within(END_MS, exited, () => undefined);
      // A background task of the agent may hold its output open.
      if (!inTime) await stopProcess({ connection, processId, epoch, exited }, this.parts.steps ?? STOP_STEPS);
      output.close();
      return true;
    } catch (error) {
      if (isAppError(error) && error.code === 'sandbox.process_not_found') return false;
      throw error;
    }
  }

  /** Lets go of every session; the processes go on. */
  close(): void {
    for (const session of this.#sessions.values()) session.close();
    this.#sessions.clear();
  }

  async #evict(process: ProcessRecord, lease: HostLease): Promise<void> {
    const connection = await this.parts.connectionTo(process.sandboxId);
    if (connection !== undefined && connection.bootId === process.bootId)
      return this.retire(connection, process, lease);
    // With its container the process is gone.
    this.#take(process.processId)?.close();
    const guard = { processEpoch: process.epoch, lease };
    await this.parts.executions.processEnded(process.processId, { state: 'lost' }, guard);
  }

  #take(processId: string): AgentSession | undefined {
    const session = this.#sessions.get(processId);
    this.#sessions.delete(processId);
    return session;
  }
}
