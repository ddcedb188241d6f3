// Which containers, volumes and files a runtime makes, finds, changes and removes: its own, and only they.
import { existsSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { newId } from '#kernel';
import { DockerEngineProbe } from './docker-engine.probe.js';
import { DockerSandboxFixture, TEST_LIMITS } from './docker-sandbox.fixture.js';
import { runShell } from './run-command.js';

jest.setTimeout(60_000);

const fixture = new DockerSandboxFixture();
const engine = new DockerEngineProbe(fixture.instanceId);
beforeAll(() => fixture.start());
afterAll(() => fixture.stop());

const inside = async (sandboxId: string, script: string, runtime = fixture.runtime): Promise<string> => {
  const connection = await runtime.connect(sandboxId, { hostEpoch: 1 });
  const { stdout } = await runShell(connection, script);
  connection.close();
  return stdout.trim();
};

describe('two instances on one engine', () => {
  it('SBX-26 neither list nor touch what is not theirs, even with the same ids', async () => {
    const spec = fixture.spec();
    const other = fixture.createRuntime({ instanceId: newId(), dataDir: join(fixture.root, 'other') });
    const mine = await fixture.runtime.ensure(spec);
    const theirs = await other.ensure(spec);
    expect(theirs.containerId).not.toBe(mine.containerId);
    expect((await other.list()).map(({ containerId }) => containerId)).toEqual([theirs.containerId]);
    expect((await fixture.runtime.list()).map(({ containerId }) => containerId)).toEqual([mine.containerId]);
    await inside(spec.sandboxId, 'echo mine > ~/whose');
    await other.stop(spec.sandboxId);
    await other.remove(spec.sandboxId, { data: true });
    expect(await other.list()).toEqual([]);
    expect(await inside(spec.sandboxId, 'cat ~/whose')).toBe('mine');
  });
});

describe('several workers of one instance', () => {
  it('SBX-25 that make the same sandbox at once make one', async () => {
    const spec = fixture.spec();
    const runtimes = [fixture.runtime, fixture.createRuntime(), fixture.createRuntime()];
    const made = await Promise.all(runtimes.map((runtime) => runtime.ensure(spec)));
    expect(new Set(made.map(({ containerId }) => containerId)).size).toBe(1);
    await Promise.all(runtimes.map((runtime) => runtime.remove(spec.sandboxId, { data: true })));
    expect(await fixture.runtime.list()).not.toContainEqual(expect.objectContaining({ sandboxId: spec.sandboxId }));
  });
});

describe('what a sandbox keeps', () => {
  it('SBX-30 HOME and spools outlive its container, and go with its data', async () => {
    const spec = fixture.spec();
    await fixture.runtime.ensure(spec);
    await inside(spec.sandboxId, 'mkdir -p ~/.claude/projects && echo kept > ~/.claude/projects/s.jsonl');
    await fixture.runtime.remove(spec.sandboxId, { data: false });
    expect((await fixture.runtime.list()).some(({ sandboxId }) => sandboxId === spec.sandboxId)).toBe(false);
    await fixture.runtime.ensure(spec);
    expect(await inside(spec.sandboxId, 'cat ~/.claude/projects/s.jsonl')).toBe('kept');
    await fixture.runtime.remove(spec.sandboxId, { data: true });
    expect(
      (await engine.volumes()).filter((name) => name.includes(spec.projectId) || name.includes(spec.sandboxId)),
    ).toEqual([]);
    expect(existsSync(spec.workspacePath)).toBe(true);
  });

  it('SBX-30 its data can be removed after its container', async () => {
    const spec = fixture.spec();
    await fixture.runtime.ensure(spec);
    await fixture.runtime.remove(spec.sandboxId, { data: false });
    await fixture.runtime.remove(spec.sandboxId, { data: true });
    expect((await engine.volumes()).filter((name) => name.includes(spec.projectId))).toEqual([]);
    expect(readdirSync(join(fixture.dataDir, 'run'))).not.toContain(spec.sandboxId);
  });
});

describe('a container that is there already', () => {
  it('SBX-25 is replaced for another specification when it is stopped, never while it runs', async () => {
    const spec = fixture.spec();
    const first = await fixture.runtime.ensure(spec);
    const changed = { ...spec, limits: { ...TEST_LIMITS, pids: 99 } };
    expect((await fixture.runtime.ensure(changed)).containerId).toBe(first.containerId);
    await fixture.runtime.stop(spec.sandboxId);
    const second = await fixture.runtime.ensure(changed);
    expect(second.containerId).not.toBe(first.containerId);
    expect((await engine.inspect(spec.sandboxId)).HostConfig.PidsLimit).toBe(99);
    await fixture.runtime.stop(spec.sandboxId);
    expect((await fixture.runtime.ensure(changed)).containerId).toBe(second.containerId);
  });

  it('SBX-25 goes on when it was paused', async () => {
    const spec = fixture.spec();
    await fixture.runtime.ensure(spec);
    await (await engine.container(spec.sandboxId)).pause();
    await fixture.runtime.ensure(spec);
    expect(await inside(spec.sandboxId, 'echo awake')).toBe('awake');
  });

  it('SBX-12 ends its jobs in order when it is stopped: what they say last is kept, and how they ended', async () => {
    const spec = fixture.spec();
    await fixture.runtime.ensure(spec);
    const connection = await fixture.runtime.connect(spec.sandboxId, { hostEpoch: 1 });
    const argv = ['sh', '-c', 'trap "echo bye; exit 9" TERM; echo ready; while :; do sleep 0.01; done 2>/dev/null'];
    await connection.start({ processId: 'polite', argv, cwd: '/', env: {}, stdin: 'null', epoch: 1 });
    for await (const _ready of await connection.attach('polite', { fromOffset: 0, epoch: 1 })) break;
    await fixture.runtime.stop(spec.sandboxId);
    expect(await connection.closed).toEqual({ code: 'sandbox.connection_lost' });
    await fixture.runtime.ensure(spec);
    const next = await fixture.runtime.connect(spec.sandboxId, { hostEpoch: 1 });
    expect(await next.info('polite')).toMatchObject({
      state: 'exited',
      exit: { code: 9 },
      headOffset: 'ready\nbye\n'.length,
    });
    next.close();
  });
});

describe('the socket of a supervisor', () => {
  it('SBX-27 is never reached through a link that was put in its place', async () => {
    const spec = fixture.spec();
    await fixture.runtime.ensure(spec);
    const source =
      (await engine.inspect(spec.sandboxId)).Mounts.find(({ Destination }) => Destination === '/run/gantry/sock')
        ?.Source ?? '';
    const socket = join(source, 'sandboxd.sock');
    let callers = 0;
    const trap = createServer((caller) => {
      callers++;
      caller.destroy();
    });
    const trapPath = join(fixture.root, 'trap.sock');
    await new Promise<void>((resolve) => trap.listen(trapPath, resolve));
    renameSync(socket, `${socket}.real`);
    symlinkSync(trapPath, socket);
    await expect(fixture.runtime.connect(spec.sandboxId, { hostEpoch: 1 })).rejects.toMatchObject({
      code: 'sandbox.connection_lost',
    });
    expect(callers).toBe(0);
    rmSync(socket);
    renameSync(`${socket}.real`, socket);
    expect(await inside(spec.sandboxId, 'echo back')).toBe('back');
    trap.close();
  });

  it('SBX-27 is found however long the path of the data folder is', async () => {
    const dataDir = join(fixture.root, 'd'.repeat(120));
    const runtime = fixture.createRuntime({ dataDir });
    const spec = fixture.spec();
    await runtime.ensure(spec);
    expect(await inside(spec.sandboxId, 'echo far', runtime)).toBe('far');
    await runtime.remove(spec.sandboxId, { data: true });
  });
});
