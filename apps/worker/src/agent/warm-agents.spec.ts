// Which idle agents are ended, and that none is ended under a run that wants it.
import type { ProcessOutput, ProcessRecord, SandboxConnection } from '#domain';
import { AppError, systemClock } from '#kernel';
import { createLogger } from '#observability';
import type { AgentSession } from './agent-driver.port.js';
import { WarmAgents } from './warm-agents.js';

const lease = { hostId: 'h', holderId: 'me', epoch: 1 };
const MINUTE_MS = 60_000;

/** A host with idle agents; `log` has what was done to them. */
class Host {
  readonly log: string[] = [];
  readonly guards: unknown[] = [];
  idle: ProcessRecord[] = [];
  /** What happens when an agent's stdin is closed. */
  closing: () => Promise<void> = async () => undefined;
  connected = true;
  /** Another worker holds the host by now. */
  fenced = false;

  readonly warm = new WarmAgents({
    executions: {
      idleAgents: async () => this.idle,
      processEnded: async (processId, { state }, guard) => {
        this.guards.push(guard);
        if (this.fenced) throw new AppError('write.fenced', 'Another worker has it.');
        this.log.push(`${processId} ${state}`);
      },
    },
    connectionTo: async () => (this.connected ? this.connection : undefined),
    idleMs: 10 * MINUTE_MS,
    most: 2,
    clock: systemClock,
    logger: createLogger({ service: 'test', level: 'fatal' }),
  });

  readonly connection = {
    bootId: 'boot',
    closeInput: async (processId: string) => {
      this.log.push(`${processId} stdin closed`);
      await this.closing();
    },
    attach: async () => endedOutput,
    forget: async (processId: string) => void this.log.push(`${processId} forgotten`),
  } as unknown as SandboxConnection;

  /** Idle for these many minutes. */
  agents(minutes: Record<string, number>): void {
    this.idle = Object.entries(minutes)
      .sort(([, a], [, b]) => b - a)
      .map(([processId, ago]) => processOf(processId, new Date(Date.now() - ago * MINUTE_MS)));
  }
}

const endedOutput = {
  ended: Promise.resolve({ code: 0, signal: null, outOfMemory: false }),
  close: () => undefined,
  async *[Symbol.asyncIterator]() {
    // Nothing is left to read.
  },
} as unknown as ProcessOutput;

const processOf = (processId: string, lastUsedAt: Date): ProcessRecord => ({
  processId,
  projectId: 'p',
  sandboxId: 's',
  sessionId: 'c',
  kind: 'agent',
  state: 'live',
  fingerprint: '',
  bootId: 'boot',
  epoch: 1,
  outOffset: 0,
  costUsd: 0,
  startedAt: lastUsedAt,
  lastUsedAt,
});
const ended = (processId: string) => [`${processId} stdin closed`, `${processId} exited`, `${processId} forgotten`];

describe('WarmAgents', () => {
  it('AGT-33 ends what is idle for too long, and the oldest of too many', async () => {
    const host = new Host();
    host.agents({ old: 11, surplus: 3, kept: 2, fresh: 1 });
    await host.warm.sweep(lease);
    expect(host.log).toEqual([...ended('old'), ...ended('surplus')]);
  });

  it('AGT-33 leaves alone what a run has reserved, until it is released', async () => {
    const host = new Host();
    host.agents({ wanted: 60 });
    await host.warm.reserve('wanted');
    await host.warm.sweep(lease);
    expect(host.log).toEqual([]);
    host.warm.release('wanted');
    await host.warm.sweep(lease);
    expect(host.log).toEqual(ended('wanted'));
  });

  it('AGT-33 lets a run wait for an ending that has begun, so that it sees the agent gone', async () => {
    const host = new Host();
    host.agents({ late: 60 });
    let closed: () => void = () => undefined;
    host.closing = () => new Promise((resolve) => (closed = resolve));
    const sweeping = host.warm.sweep(lease);
    await new Promise(setImmediate);
    const reserving = host.warm.reserve('late').then(() => host.log.push('reserved'));
    await new Promise(setImmediate);
    expect(host.log).toEqual(['late stdin closed']);
    closed();
    await Promise.all([sweeping, reserving]);
    expect(host.log).toEqual([...ended('late'), 'reserved']);
  });

  it('AGT-33 gives a session to one run at a time, and closes it with its agent', async () => {
    const host = new Host();
    const session = { close: () => void host.log.push('session closed') } as unknown as AgentSession;
    host.warm.release('agent', session);
    expect(await host.warm.reserve('agent')).toBe(session);
    expect(await host.warm.reserve('agent')).toBeUndefined();
    host.warm.release('agent', session);
    host.agents({ agent: 60 });
    await host.warm.sweep(lease);
    expect(host.log[0]).toBe('session closed');
  });

  it('DATA-21 says under which epoch and lease an agent ended, and forgets nothing when others have it', async () => {
    const host = new Host();
    host.agents({ old: 60 });
    host.fenced = true;
    await host.warm.sweep(lease);
    expect(host.guards).toEqual([{ processEpoch: 1, lease }]);
    expect(host.log).toEqual(['old stdin closed']);
  });

  it('AGT-37 writes down as lost what went with its container', async () => {
    const host = new Host();
    host.agents({ gone: 60 });
    host.connected = false;
    await host.warm.sweep(lease);
    expect(host.log).toEqual(['gone lost']);
  });
});
