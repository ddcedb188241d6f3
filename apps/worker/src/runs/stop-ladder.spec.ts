import type { ProcessSignal, SandboxSpec } from '#domain';
import { AppError, newId } from '#kernel';
import { FakeSandboxRuntime } from '#sandbox/fake';
import { stopProcess, type StopSteps } from './stop-ladder.js';

const STEPS: StopSteps = { interruptMs: 20, terminateMs: 20, killMs: 10, kills: 3 };

interface Behaviour {
  /** The signal that ends it; undefined: nothing does. */
  endsAt?: ProcessSignal;
  /** What it leaves behind, and the signal that ends that. */
  leaves?: ProcessSignal;
}

/** A tree of processes with one end each, and what was sent to it. */
function tree({ endsAt, leaves }: Behaviour) {
  const sent: string[] = [];
  let exit = (): void => undefined;
  const exited = new Promise<void>((resolve) => {
    exit = resolve;
  });
  let [running, left] = [true, leaves !== undefined];
  const connection = {
    signal: async (_id: string, { signal, scope }: { signal: ProcessSignal; scope: string }) => {
      sent.push(`${signal} ${scope}`);
      const delivered = Number(running) + Number(left);
      if (running && signal === endsAt) {
        running = false;
        exit();
      }
      if (signal === leaves) left = false;
      return { delivered };
    },
  };
  return { target: { connection, processId: 'p', epoch: 1, exited }, sent, alive: () => running || left };
}

describe('stopProcess', () => {
  it('ENG-23 is content with INT, and looks for what was left behind', async () => {
    const { target, sent } = tree({ endsAt: 'SIGINT' });
    expect(await stopProcess(target, STEPS)).toBe(true);
    expect(sent).toEqual(['SIGINT tree', 'SIGCONT tree', 'SIGTERM tree']);
  });

  it('ENG-23 goes from INT over TERM to KILL', async () => {
    const { target, sent } = tree({ endsAt: 'SIGKILL' });
    expect(await stopProcess(target, STEPS)).toBe(true);
    expect(sent.slice(0, 4)).toEqual(['SIGINT tree', 'SIGCONT tree', 'SIGTERM tree', 'SIGKILL tree']);
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'ENG-23 ends what a process left behind that only %s ends',
    async (leaves) => {
      const { target, alive } = tree({ endsAt: 'SIGINT', leaves });
      expect(await stopProcess(target, STEPS)).toBe(true);
      expect(alive()).toBe(false);
    },
  );

  it('ENG-23 gives up on a process that survives KILL', async () => {
    const { target, sent } = tree({});
    expect(await stopProcess(target, STEPS)).toBe(false);
    expect(sent.filter((one) => one.startsWith('SIGKILL'))).toHaveLength(STEPS.kills);
  });

  it('ENG-23 takes a process that is not there for stopped, and passes on that the sandbox is away', async () => {
    const missing = new AppError('sandbox.process_not_found', 'gone');
    const away = new AppError('sandbox.connection_lost', 'away');
    const failing = (error: AppError) => ({
      connection: { signal: async () => Promise.reject(error) },
      processId: 'p',
      epoch: 1,
      exited: new Promise(() => undefined),
    });
    expect(await stopProcess(failing(missing), STEPS)).toBe(true);
    await expect(stopProcess(failing(away), STEPS)).rejects.toBe(away);
  });
});

describe('stopProcess in a sandbox', () => {
  const spec: SandboxSpec = {
    sandboxId: newId(),
    projectId: newId(),
    image: 'any',
    workspacePath: '/tmp',
    uid: 1000,
    gid: 1000,
    limits: { memoryBytes: 2 ** 29, cpus: 1, pids: 64, tmpBytes: 2 ** 24, spoolBytes: 2 ** 20 },
  };

  it.each([
    ['family', 'x'],
    ['trap', '3'],
    ['hang', ''],
  ])('ENG-23 ends %s with everything it started', async (...argv) => {
    const runtime = new FakeSandboxRuntime();
    await runtime.ensure(spec);
    const connection = await runtime.connect(spec.sandboxId, { hostEpoch: 1 });
    const processId = newId();
    await connection.start({ processId, argv, cwd: '/workspace', env: {}, stdin: 'null', epoch: 1 });
    const output = await connection.attach(processId, { fromOffset: 0, epoch: 1 });
    const exited = (async () => {
      for await (const _chunk of output) continue;
      await output.ended;
    })();
    expect(await stopProcess({ connection, processId, epoch: 1, exited }, STEPS)).toBe(true);
    expect(await connection.info(processId)).toMatchObject({ state: 'exited', descendants: 0 });
    connection.close();
  });
});
