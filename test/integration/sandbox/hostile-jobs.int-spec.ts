// Jobs that behave as badly as they can: the supervisor answers, ends them whole, and the sandbox goes on.
import { connect as connectSocket } from 'node:net';
import { join } from 'node:path';
import { newId } from '#kernel';
import type { SandboxConnection, SandboxSpec } from '#domain';
import { DockerEngineProbe } from './docker-engine.probe.js';
import { DockerSandboxFixture, TEST_LIMITS } from './docker-sandbox.fixture.js';
import { CLONED_SIBLING_SCRIPT, MARK_THIEF_SCRIPT, daemonScript } from './escape.scripts.js';
import { eventually } from './eventually.js';
import { finishCommand, runShell } from './run-command.js';

jest.setTimeout(120_000);

const MIB = 1024 * 1024;
const fixture = new DockerSandboxFixture();
const engine = new DockerEngineProbe(fixture.instanceId);
let spec: SandboxSpec;
let connection: SandboxConnection;

beforeAll(() => fixture.start());
beforeEach(async () => {
  spec = fixture.spec({ limits: { ...TEST_LIMITS, memoryBytes: 256 * MIB, tmpBytes: 32 * MIB } });
  await fixture.runtime.ensure(spec);
  connection = await fixture.runtime.connect(spec.sandboxId, { hostEpoch: 1 });
});
afterEach(async () => {
  connection.close();
  await fixture.runtime.remove(spec.sandboxId, { data: true });
});
afterAll(() => fixture.stop());

const startArgv = async (argv: string[]): Promise<string> => {
  const processId = newId();
  await connection.start({ processId, argv, cwd: '/workspace', env: {}, stdin: 'null', epoch: 1 });
  return processId;
};
const startShell = (script: string): Promise<string> => startArgv(['sh', '-c', script]);
const killTree = (processId: string) => connection.signal(processId, { signal: 'SIGKILL', scope: 'tree', epoch: 1 });
/** Everything in the container but the init process and the supervisor. */
const others = async (): Promise<string[]> =>
  (await engine.commandLines(spec.sandboxId)).filter((line) => !/sandboxd\.cjs/.test(line));
const stillWorks = async (): Promise<void> => {
  expect(await runShell(connection, 'echo fine')).toMatchObject({ stdout: 'fine\n', exit: { code: 0 } });
};

describe('the supervisor survives', () => {
  it('SBX-31 a fork bomb, and ends it', async () => {
    const processId = await startShell('bomb() { sleep 1000 & bomb & bomb & sleep 1000; }; bomb');
    await eventually(others, (lines) => lines.length >= TEST_LIMITS.pids / 2);
    expect(await connection.info(processId)).toMatchObject({ processId });
    await killTree(processId);
    expect(await others()).toEqual([]);
    await stillWorks();
  });

  it('SBX-31 a fork bomb that also leaves its session, its parents and its environment', async () => {
    const script = `
      cat > /tmp/bomb <<'END'
      ulimit -m 1024
      (env -i setsid sh /tmp/bomb </dev/null >/dev/null 2>&1 &)
      (env -i setsid sh /tmp/bomb </dev/null >/dev/null 2>&1 &)
END
      sh /tmp/bomb; sleep 1000`;
    const processId = await startShell(script);
    await eventually(others, (lines) => lines.length >= 5);
    await killTree(processId);
    expect(await others()).toEqual([]);
    await stillWorks();
  });

  it('SBX-21 a start while no process can be made: it says EAGAIN', async () => {
    const started: string[] = [];
    const startOne = async () => {
      started.push(await startShell('exec sleep 1000'));
      return (await connection.info(started.at(-1) ?? '')).exit?.spawnError;
    };
    expect(await eventually(startOne, (error) => error !== undefined)).toBe('EAGAIN');
    await Promise.all(started.map(killTree));
    await stillWorks();
  });

  it('SBX-20 a job that eats memory again and again', async () => {
    for (let round = 0; round < 3; round++) {
      const { exit } = await runShell(connection, 'exec tail /dev/zero');
      expect(exit).toEqual({ code: null, signal: 'SIGKILL', outOfMemory: true });
    }
    await stillWorks();
  });

  it('SBX-31 an output flood that nobody reads: it is held at the cap, and a tree of floods ends', async () => {
    const flood = await startShell('yes & yes >&2 & yes');
    const held = await eventually(
      async () => (await connection.info(flood)).headOffset,
      (head) => head >= TEST_LIMITS.spoolBytes,
    );
    expect(held).toBeLessThan(TEST_LIMITS.spoolBytes + 256 * 1024);
    await stillWorks();
    await killTree(flood);
    expect(await others()).toEqual([]);
    // The rest of its output is still held back: the process has ended only when that was read.
    expect((await finishCommand(connection, flood)).exit).toMatchObject({ signal: 'SIGKILL' });
  });

  it('SBX-31 output of single bytes from both channels', async () => {
    const script = 'i=0; while [ $i -lt 20000 ]; do echo; echo >&2; i=$((i+1)); done';
    const { stdout, stderr, exit } = await runShell(connection, script);
    expect([stdout.length, stderr.length, exit.code]).toEqual([20_000, 20_000, 0]);
  });

  it('SBX-31 more connections to the forwarder than it takes', async () => {
    // Not all are waited for: those beyond the backlog are tried again by the kernel, for minutes.
    const script = `node -e "
      const net = require('net'); let closed = 0;
      for (let i = 0; i < 1500; i++) net.connect(8082, '127.0.0.1').resume().on('error', () => {}).on('close', () => { if (++closed === 600) process.exit(0); });
    "`;
    expect((await runShell(connection, script)).exit.code).toBe(0);
    await stillWorks();
  });

  it('SBX-2 garbage on its socket', async () => {
    // The socket is root's: nobody but a broken worker could send this.
    const folder = (await engine.inspect(spec.sandboxId)).Mounts.find(
      ({ Destination }) => Destination === '/run/gantry/sock',
    );
    for (const bytes of [
      Buffer.from('GET / HTTP/1.1\r\n\r\n'),
      Buffer.alloc(70_000, 0xff),
      Buffer.from([0, 0, 0, 3, 0, 123, 125]),
    ]) {
      const socket = connectSocket(join(folder?.Source ?? '', 'sandboxd.sock'));
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.on('error', () => undefined);
      socket.resume();
      socket.write(bytes);
      await closed;
    }
    await stillWorks();
  });

  it('SBX-31 a hundred megabytes without growing', async () => {
    const processId = await startShell('yes 0123456789abcde | head -c 104857600');
    await finishCommand(connection, processId);
    const { stdout } = await runShell(
      connection,
      'grep VmHWM /proc/$(pgrep -f ^/opt/gantry/bin/node.*sandboxd)/status',
    );
    expect(Number(/(\d+) kB/.exec(stdout)?.[1])).toBeLessThan(200 * 1024);
  });
});

describe('the end of a tree', () => {
  it('SBX-16 includes what gave up its mark, when it has no parent left either', async () => {
    const name = `s${newId()}`;
    const stray = `(ulimit -m 1024; env -i /usr/bin/setsid /bin/sh -c 'while :; do /bin/sleep 1000; done' ${name}-stray </dev/null >/dev/null 2>&1 &)`;
    const processId = await startShell(`(${stray}); sleep 1000`);
    await eventually(
      () => engine.family(spec.sandboxId, name),
      (seen) => seen.length === 1,
    );
    await killTree(processId);
    expect(await engine.family(spec.sandboxId, name)).toEqual([]);
  });

  it('SBX-34 includes what lowers its limits to those of a live job, and spares that job', async () => {
    const name = `t${newId()}`;
    const victim = await startArgv(['sh', '-c', 'while :; do sleep 1000; done', `${name}-victim`]);
    const { pid } = await connection.info(victim);
    const thief = await startArgv(['sh', '-c', MARK_THIEF_SCRIPT, 'sh', name, String(pid)]);
    await eventually(
      () => engine.family(spec.sandboxId, name),
      (seen) => seen.includes('thief'),
    );
    await killTree(thief);
    expect(await engine.family(spec.sandboxId, name)).toEqual(['victim']);
    expect(await connection.info(victim)).toMatchObject({ state: 'running', exit: null });
  });

  it('SBX-34 spares a daemon that lowered its own limit when the cancelled job cannot have started it', async () => {
    const name = `d${newId()}`;
    await startArgv(['sh', '-c', daemonScript('ulimit -m 1048576'), 'sh', name]);
    const isThere = () => engine.family(spec.sandboxId, name);
    await eventually(isThere, (seen) => seen.length === 1);
    const other = await startShell('sleep 1000');
    await killTree(other);
    expect(await isThere()).toEqual(['daemon']);
  });

  it('SBX-34 includes a child that a job made its own sibling and that gave up its mark', async () => {
    const name = `c${newId()}`;
    const job = await startArgv(['perl', '-e', CLONED_SIBLING_SCRIPT, name]);
    await eventually(
      () => engine.family(spec.sandboxId, name),
      (seen) => seen.includes('sibling'),
    );
    await killTree(job);
    expect(await engine.family(spec.sandboxId, name)).toEqual([]);
  });

  it('SBX-17 spares what a forgotten process left behind', async () => {
    const name = `l${newId()}`;
    const left = await startShell(
      `(env -i /usr/bin/setsid /bin/sh -c 'while :; do /bin/sleep 1000; done' ${name}-left </dev/null >/dev/null 2>&1 &)`,
    );
    await finishCommand(connection, left);
    await connection.forget(left, { epoch: 1 });
    const other = await startShell('sleep 1000');
    await killTree(other);
    expect(await engine.family(spec.sandboxId, name)).toEqual(['left']);
  });

  it('SBX-13 the output of a command is complete although what it left behind holds the pipe', async () => {
    const { stdout, exit } = await runShell(connection, 'sleep 1000 & echo done');
    expect([stdout, exit.code]).toEqual(['done\n', 0]);
    expect(await others()).toEqual(['sleep 1000']);
  });

  it('SBX-13 waits for what comes right after the exit', async () => {
    const { stdout, exit } = await runShell(connection, '(sleep 0.1; echo late) & echo now');
    expect([stdout, exit.code]).toEqual(['now\nlate\n', 0]);
  });

  it('SBX-13 a background process that outlives its command is not blocked by its own output', async () => {
    const file = '/workspace/finished';
    await runShell(connection, `(sleep 0.5; yes | head -c 1000000; touch ${file}) & echo started`);
    await eventually(
      async () => (await runShell(connection, `test -e ${file}`)).exit.code,
      (code) => code === 0,
    );
  });
});

describe('out of memory', () => {
  it('SBX-20 is said of a command whose child was ended, and not of its neighbour', async () => {
    const neighbour = await startShell('sleep 1; exit 0');
    const { exit } = await runShell(connection, 'tail /dev/zero; exit 137');
    expect(exit).toEqual({ code: 137, signal: null, outOfMemory: true });
    expect((await finishCommand(connection, neighbour)).exit).toEqual({ code: 0, signal: null, outOfMemory: false });
  });

  it('SBX-20 is not said of a job that was killed on purpose', async () => {
    const processId = await startShell('sleep 1000');
    await killTree(processId);
    expect((await finishCommand(connection, processId)).exit).toEqual({
      code: null,
      signal: 'SIGKILL',
      outOfMemory: false,
    });
  });
});
