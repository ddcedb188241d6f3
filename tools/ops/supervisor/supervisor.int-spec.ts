// The supervisor with real processes: deaths, restarts, its own death, and stops that do not go by themselves.
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkout } from '../checkout.ts';
import { dataLayout, prepareDataFolder, type DataLayout } from '../data-layout.ts';
import { poll } from '../host/poll.ts';
import { identify, isAlive, signalProcess } from '../host/process-identity.ts';
import type { SupervisorClient } from './control-client.ts';
import { ensureSupervisor } from './control-client.ts';
import { readRecords } from './service-records.ts';
import type { ServiceSpec, ServiceStatus } from './service-spec.ts';

const fixture = join(checkout, 'tools', 'ops', 'testing', 'fixture-service.mjs');
const WAIT_MS = 15_000;

let layout: DataLayout;
let supervisor: SupervisorClient;

beforeEach(async () => {
  layout = dataLayout(mkdtempSync(join(tmpdir(), 'gantry-supervisor-')));
  prepareDataFolder(layout);
  supervisor = await ensureSupervisor(layout);
});
afterEach(async () => {
  const client = await ensureSupervisor(layout);
  await client.shutDown();
  rmSync(layout.root, { recursive: true });
});

const spec = (words: string, changed: Partial<ServiceSpec> = {}): ServiceSpec => ({
  name: 'fixture',
  argv: [process.execPath, fixture, ...words.split(' ')],
  env: {},
  cwd: '/',
  stopSignal: 'SIGTERM',
  stopTimeoutMs: 5_000,
  version: '1',
  ...changed,
});

async function statusWhen(fits: (status: ServiceStatus) => boolean): Promise<ServiceStatus> {
  const found = await poll(WAIT_MS, async () => (await supervisor.status()).find(fits));
  if (!found) throw new Error(`not reached; now ${JSON.stringify(await supervisor.status())}`);
  return found;
}

const logText = (name = 'fixture'): string => readFileSync(join(layout.logs, `${name}.log`), 'utf8');
const logged = async (text: string): Promise<void> => {
  if (!(await poll(WAIT_MS, () => logText().includes(text)))) throw new Error(`no ${text} in ${logText()}`);
};

function kill(pid: number | null): void {
  const identity = identify(pid ?? 0);
  if (!identity) throw new Error(`no process ${pid}`);
  signalProcess(identity, 'SIGKILL');
}

async function supervisorPid(): Promise<number> {
  const info = await supervisor.info();
  if (!info) throw new Error('no supervisor');
  return info.pid;
}

describe('the supervisor', () => {
  it('OPS-5 starts a killed service again within a second', async () => {
    await supervisor.apply([spec('hold')]);
    const { pid } = await statusWhen(({ state }) => state === 'running');
    const start = performance.now();
    kill(pid);
    const after = await statusWhen(({ restarts, state }) => restarts === 1 && state === 'running');
    expect(performance.now() - start).toBeLessThan(1_000);
    expect(after).toMatchObject({ lastExit: 'SIGKILL' });
    expect(after.pid).not.toBe(pid);
  });

  it('OPS-35 forgets a service that was removed: neither its status nor its record says that something is wrong', async () => {
    await supervisor.apply([spec('hold'), spec('hold', { name: 'kept' })]);
    await statusWhen(({ name, state }) => name === 'kept' && state === 'running');
    await supervisor.remove('fixture');
    await supervisor.remove('never-there');
    expect((await supervisor.status()).map(({ name, state }) => [name, state])).toEqual([['kept', 'running']]);
    expect(Object.keys(readRecords(layout.run))).toEqual(['kept']);
  });

  it('OPS-5 shows how a service that does not start ended, and counts', async () => {
    await supervisor.apply([spec('exit 3')]);
    expect(await statusWhen(({ restarts }) => restarts >= 2)).toMatchObject({ lastExit: 'code 3' });
    await supervisor.apply([{ ...spec('x'), argv: ['/no/such/program'] }]);
    await statusWhen(({ lastExit }) => lastExit?.includes('ENOENT') ?? false);
  });

  it('OPS-4 leaves an unchanged service alone, and starts a changed one anew', async () => {
    const first = (await supervisor.apply([spec('hold')]))[0]?.pid;
    expect((await supervisor.apply([spec('hold')]))[0]?.pid).toBe(first);
    const changes: Partial<ServiceSpec>[] = [{ version: '2' }, { version: '2', env: { A: '1' } }];
    const pids = [first];
    for (const change of changes) pids.push((await supervisor.apply([spec('hold', change)]))[0]?.pid);
    expect(new Set(pids).size).toBe(3);
  });

  it('OPS-11 gives a service its own environment and nothing of the supervisor’s', async () => {
    await supervisor.apply([spec('env HOME env ONLY hold', { env: { ONLY: 'this' } })]);
    await logged('unset\nthis\n');
  });

  it('OPS-17 moves logs on at the size that it is told, its own too, while services write', async () => {
    appendFileSync(join(layout.logs, 'supervisor.log'), 'y'.repeat(200_000));
    await supervisor.limitLogs({ maxBytes: 100_000, files: 3 });
    expect(statSync(join(layout.logs, 'supervisor.log.1')).size).toBeGreaterThanOrEqual(199_000);
    await supervisor.apply([spec('lines 1000')]);
    const older = (age: number): string => join(layout.logs, `fixture.log.${age}`);
    expect(await poll(WAIT_MS, () => existsSync(older(1)))).toBe(true); // by itself
    expect(await poll(WAIT_MS, () => statSync(join(layout.logs, 'fixture.log')).size > 150_000)).toBe(true);
    await supervisor.limitLogs({ maxBytes: 100_000, files: 3 }); // at once
    const { restarts } = await statusWhen(({ state }) => state === 'running');
    expect(restarts).toBe(0);
    const numbers = [older(2), older(1)]
      .flatMap((path) => readFileSync(path, 'utf8').trimEnd().split('\n'))
      .map(Number);
    expect(numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0))).toBe(true);
    for (const age of [1, 2]) expect(statSync(older(age)).size).toBeLessThan(500_000);
  });

  it('OPS-6 services outlive a killed supervisor, and the next one takes them over', async () => {
    await supervisor.apply([spec('hold'), spec('hold', { name: 'other' })]);
    const before = await supervisor.status();
    const doomed = identify(await supervisorPid());
    if (!doomed) throw new Error('no supervisor');
    signalProcess(doomed, 'SIGKILL');
    await poll(WAIT_MS, () => !isAlive(doomed));
    supervisor = await ensureSupervisor(layout);
    expect(await supervisor.status()).toEqual(before);
    await supervisor.apply([spec('hold'), spec('hold', { name: 'other' })]);
    expect((await supervisor.status()).map(({ pid }) => pid)).toEqual(before.map(({ pid }) => pid));
  });

  it('OPS-6 one that was taken over and dies is started again', async () => {
    await supervisor.apply([spec('hold')]);
    await supervisor.leave();
    supervisor = await ensureSupervisor(layout);
    const [adopted] = await supervisor.apply([spec('hold')]);
    kill(adopted?.pid ?? null);
    const after = await statusWhen(({ restarts, state }) => restarts === 1 && state === 'running');
    expect(after.pid).not.toBe(adopted?.pid);
  });

  it('OPS-32 one that was taken over is stopped as it was started to be', async () => {
    await supervisor.apply([spec('deaf line up hold', { stopSignal: 'SIGINT' })]);
    await logged('up');
    await supervisor.leave();
    supervisor = await ensureSupervisor(layout);
    expect(await supervisor.stop('fixture')).toBe('ended');
    expect(logText()).not.toContain('deaf to SIGTERM');
  });

  it('OPS-6 a second supervisor is not started', async () => {
    const pid = await supervisorPid();
    await ensureSupervisor(layout);
    expect(await supervisorPid()).toBe(pid);
  });

  it('OPS-16 stops with the signal that it is told', async () => {
    await supervisor.apply([spec('drain line up hold')]);
    await logged('up');
    expect(await supervisor.stop('fixture', { signal: 'SIGUSR2', timeoutMs: 5_000 })).toBe('ended');
    expect(logText()).toContain('drained');
    expect(await supervisor.status()).toMatchObject([{ state: 'stopped', pid: null }]);
  });

  it('OPS-16 kills the whole group of a service that does not end', async () => {
    await supervisor.apply([spec('deaf child line up hold', { stopTimeoutMs: 300 })]);
    await logged('up');
    const child = identify(Number(/child (\d+)/.exec(logText())?.[1]));
    if (!child) throw new Error('no child');
    expect(await supervisor.stop('fixture')).toBe('killed');
    expect(logText()).toContain('deaf to SIGTERM');
    expect(await poll(WAIT_MS, () => !isAlive(child))).toBe(true);
  });

  it('OPS-28 starts the successor of a socket first, and lets the old process finish', async () => {
    const socket = join(layout.run, 'fixture.sock');
    const change = (version: string) => spec(`late listen ${socket} hold`, { version, takesOver: socket });
    const [first] = await supervisor.apply([change('1')]);
    await logged('listening');
    const [second] = await supervisor.apply([change('2')]);
    const old = identify(first?.pid ?? 0);
    if (!old) throw new Error('the old process is gone before the new one serves');
    expect(second?.pid).not.toBe(first?.pid);
    await logged('asked to finish');
    expect(isAlive(old)).toBe(true);
    await supervisor.leave(); // the next supervisor knows of it, too
    supervisor = await ensureSupervisor(layout);
    await supervisor.apply([change('2')]);
    expect(await supervisor.stop('fixture', { timeoutMs: 300 })).toBe('killed');
    expect(isAlive(old)).toBe(false);
  });

  it('OPS-28 starts a service anew when asked, though nothing changed', async () => {
    const [first] = await supervisor.apply([spec('hold')]);
    const [second] = await supervisor.apply([spec('hold')], ['fixture']);
    expect(second?.pid).not.toBe(first?.pid);
  });

  it('answers questions while a stop takes its time', async () => {
    await supervisor.apply([spec('deaf line up hold', { stopTimeoutMs: 2_000 })]);
    await logged('up');
    const stopping = supervisor.stop('fixture');
    expect((await statusWhen(({ state }) => state === 'stopping')).pid).not.toBeNull();
    expect(await stopping).toBe('killed');
  });
});
