// What the sweep does while sandboxes are silent, runs begin, and the host changes hands under it.
import type { ProcessInfo, ProcessRecord, SandboxConnection, SandboxSummary } from '#domain';
import { AppError, newId } from '#kernel';
import { createLogger } from '#observability';
import { SandboxSweep } from './sandbox-sweep.js';

const lease = { hostId: 'host', holderId: 'me', epoch: 3 };
const never = new Promise<never>(() => undefined);

/** A host with sandboxes of one project each; `log` has what was done to their processes. */
class Host {
  readonly log: string[] = [];
  rows: ProcessRecord[] = [];
  active: string[] = [];
  held = true;
  fenced = false;
  readonly sandboxes = new Map<string, { infos: ProcessInfo[]; ask: () => Promise<void> }>();

  /** `ask`: what happens between the question for its processes and the answer. */
  sandbox(sandboxId: string, ask = (): Promise<void> => Promise.resolve()): void {
    this.sandboxes.set(sandboxId, { infos: [], ask });
  }

  row(sandboxId: string, more: Partial<ProcessRecord> = {}): ProcessRecord {
    const row = { processId: newId(), sandboxId, projectId: `of ${sandboxId}`, state: 'live', epoch: 1, ...more };
    this.rows.push(row as ProcessRecord);
    return row as ProcessRecord;
  }

  process(sandboxId: string, processId: string, more: Partial<ProcessInfo> = {}): void {
    const info = { processId, state: 'running', epoch: 1, pid: 7, exit: null, ...more };
    this.sandboxes.get(sandboxId)?.infos.push(info as ProcessInfo);
  }

  readonly sweep = new SandboxSweep({
    lease,
    runtime: {
      list: async () =>
        [...this.sandboxes.keys()].map((sandboxId): SandboxSummary => {
          return { sandboxId, projectId: `of ${sandboxId}`, containerId: 'c', state: 'running' };
        }),
      remove: async (sandboxId) => void this.log.push(`remove ${sandboxId}`),
    },
    executions: {
      activeRuns: async () => this.active.map((projectId) => ({ projectId }) as never),
      liveProcesses: async () => [...this.rows],
      processEnded: async (processId, { state }, guard) => {
        if (this.fenced) throw new AppError('write.fenced', 'Another worker has it.');
        this.log.push(`${processId} ${state} at ${guard.processEpoch} under ${guard.lease.epoch}`);
      },
      processLive: async ({ processId, processEpoch }, { pid, bootId }) =>
        void this.log.push(`${processId} live at ${processEpoch}: ${pid} in ${bootId}`),
    },
    projects: { existing: async (ids) => new Set(ids) },
    connectionTo: async (sandboxId) => this.connection(sandboxId),
    attendedProjects: () => [],
    stillHeld: async () => this.held,
    logger: createLogger({ service: 'test', level: 'fatal' }),
    bounds: { askMs: 30, lookMs: 60 },
  });

  private connection(sandboxId: string): SandboxConnection {
    const { infos = [], ask = async () => undefined } = this.sandboxes.get(sandboxId) ?? {};
    const connection: Partial<SandboxConnection> = {
      sandboxId,
      bootId: 'boot',
      list: async () => {
        const answer = [...infos];
        await ask();
        return answer;
      },
      info: async (processId) => infos.find((info) => info.processId === processId) as ProcessInfo,
      signal: async (processId, { signal }) => {
        this.log.push(`${signal} ${processId}`);
        return { delivered: 1 };
      },
      forget: async (processId) => void this.log.push(`forget ${processId}`),
    };
    return connection as SandboxConnection;
  }
}

describe('SandboxSweep', () => {
  it('ENG-46 repairs the others while one sandbox is silent, and asks that one again later', async () => {
    const host = new Host();
    host.sandbox('silent', () => never);
    host.sandbox('fine');
    const [unheard, gone] = [host.row('silent'), host.row('fine')];
    await host.sweep.run();
    expect(host.log).toEqual([`${gone.processId} lost at 1 under 3`]);
    host.sandbox('silent');
    host.rows = [unheard];
    await host.sweep.run();
    expect(host.log.at(-1)).toBe(`${unheard.processId} lost at 1 under 3`);
  });

  it('ENG-46 touches nothing of a run that began, or took an agent over, while the sandbox was asked', async () => {
    const host = new Host();
    host.sandbox('s', async () => {
      const begun = host.row('s', { state: 'starting' });
      host.process('s', begun.processId);
      host.rows = host.rows.map((row) => (row.processId === warm.processId ? { ...row, epoch: 2 } : row));
    });
    const warm = host.row('s');
    await host.sweep.run();
    expect(host.log).toEqual([]);
  });

  it('ENG-46 leaves alone what was at work at either end', async () => {
    const host = new Host();
    host.sandbox('before', async () => void host.active.splice(0, 1, 'of after'));
    host.sandbox('after');
    host.active = ['of before'];
    host.row('before');
    await host.sweep.run();
    host.rows = [];
    host.row('after');
    await host.sweep.run();
    expect(host.log).toEqual([]);
  });

  it('ENG-44 ends the rows of a sandbox that does not run', async () => {
    const host = new Host();
    const gone = host.row('removed');
    await host.sweep.run();
    expect(host.log).toEqual([`${gone.processId} lost at 1 under 3`]);
  });

  it('ENG-44 kills what no reading knows, while the host is held', async () => {
    for (const held of [true, false]) {
      const host = new Host();
      host.held = held;
      host.sandbox('s');
      host.process('s', 'wild');
      await host.sweep.run();
      expect(host.log).toEqual(held ? ['SIGKILL wild'] : []);
    }
  });

  it('ENG-47 makes live what runs and was left starting', async () => {
    const host = new Host();
    host.sandbox('s');
    const { processId } = host.row('s', { state: 'starting' });
    host.process('s', processId, { bootId: 'boot-2' });
    await host.sweep.run();
    expect(host.log).toEqual([`${processId} live at 1: 7 in boot-2`]);
  });

  it('DATA-21 goes on past a row that is another’s by now', async () => {
    const host = new Host();
    host.fenced = true;
    host.sandbox('s');
    host.row('s');
    host.process('s', 'over', { state: 'exited' });
    await host.sweep.run();
    expect(host.log).toEqual(['forget over']);
  });
});
