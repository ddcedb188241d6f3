// What the commands do when the supervisor was killed and its services live on: real processes, by the command line.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkout } from '../checkout.ts';
import { dataLayout, prepareDataFolder, type DataLayout } from '../data-layout.ts';
import { poll } from '../host/poll.ts';
import { identify, isAlive, signalProcess, type ProcessIdentity } from '../host/process-identity.ts';
import { ensureSupervisor, SupervisorClient } from '../supervisor/control-client.ts';
import { livingProcesses, readRecords, recordFile } from '../supervisor/service-records.ts';

const WAIT_MS = 15_000;

let layout: DataLayout;
let processes: ProcessIdentity[];

beforeEach(async () => {
  layout = dataLayout(mkdtempSync(join(tmpdir(), 'gantry-unsupervised-')));
  prepareDataFolder(layout);
  const supervisor = await ensureSupervisor(layout);
  await supervisor.apply(['other', 'worker'].map((name) => fixture(name)));
  await logged('worker', 'up');
  processes = livingProcesses(readRecords(layout.run)).map(({ identity }) => identity);
  expect(processes).toHaveLength(2);
  await killSupervisor(supervisor);
});
afterEach(async () => {
  for (const identity of processes) signalProcess(identity, 'SIGKILL');
  const supervisor = new SupervisorClient(layout.supervisorSocket);
  if (await supervisor.info()) await supervisor.shutDown();
  rmSync(layout.root, { recursive: true, force: true });
});

/** Ends on SIGUSR2 with the word `drained` in its log, as a worker is told by `down`. */
const fixture = (name: string) => ({
  name,
  argv: [
    process.execPath,
    join(checkout, 'tools', 'ops', 'testing', 'fixture-service.mjs'),
    'drain',
    'line',
    'up',
    'hold',
  ],
  env: {},
  cwd: '/',
  stopSignal: 'SIGTERM' as const,
  stopTimeoutMs: 5_000,
  version: '1',
});

const logText = (name: string): string => readFileSync(join(layout.logs, `${name}.log`), 'utf8');
async function logged(name: string, text: string): Promise<void> {
  if (!(await poll(WAIT_MS, () => logText(name).includes(text)))) throw new Error(`no ${text} in ${logText(name)}`);
}

async function killSupervisor(supervisor: SupervisorClient): Promise<void> {
  const identity = identify((await supervisor.info())?.pid ?? 0);
  if (!identity) throw new Error('no supervisor');
  signalProcess(identity, 'SIGKILL');
  await poll(WAIT_MS, () => !isAlive(identity));
}

function gantry(...args: string[]): { code: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(checkout, 'tools', 'gantry.ts'), ...args], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], GANTRY_DATA_DIR: layout.root },
  });
  return { code: status, stdout, stderr };
}

describe('services whose supervisor was killed', () => {
  it('OPS-32 are shown as unsupervised, with the remedy and exit code 1', () => {
    const { code, stdout } = gantry('status');
    expect(code).toBe(1);
    for (const [index, name] of ['other', 'worker'].entries()) {
      expect(stdout).toMatch(new RegExp(`^${name} +running, unsupervised +${processes[index]?.pid} `, 'm'));
    }
    expect(stdout).toMatch(/takes these services over: make up\n$/);
    expect(processes.map(isAlive)).toEqual([true, true]);
  });

  it('OPS-32 are stopped by down, the worker in order', () => {
    expect(gantry('down')).toMatchObject({ code: 0 });
    expect(processes.map(isAlive)).toEqual([false, false]);
    expect(logText('worker')).toContain('drained');
    expect(gantry('status')).toMatchObject({ code: 1, stdout: expect.stringContaining('Nothing runs') as string });
  });

  it('OPS-19, OPS-32 are stopped by reset before it deletes their data', () => {
    expect(gantry('reset', '--yes')).toMatchObject({ code: 0 });
    expect(processes.map(isAlive)).toEqual([false, false]);
    expect(existsSync(layout.root)).toBe(false);
  });

  it('OPS-19 reset deletes nothing while a recorded process lives', async () => {
    await ensureSupervisor(layout);
    const records = { ...readRecords(layout.run) };
    const outlives = identify(spawn('sleep', ['600'], { stdio: 'ignore' }).pid ?? 0);
    if (!outlives) throw new Error('no process');
    processes.push(outlives);
    writeFileSync(recordFile(layout.run), JSON.stringify({ lasting: { ...records['other'], identity: outlives } }));
    const { code, stderr } = gantry('reset', '--yes');
    expect(code).toBe(1);
    expect(stderr).toContain(`lasting (pid ${outlives.pid})`);
    expect(existsSync(layout.secrets)).toBe(true);
    expect(isAlive(outlives)).toBe(true);
  });
});
