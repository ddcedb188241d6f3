// Fencing: a worker that lost its lease, or its run, changes nothing.
import type { SandboxConnection } from '#domain';
import { type ContractHarness, ContractSandbox, eventually, failsWith, readUntil, textOf } from './contract-harness.js';

export function epochContract(harness: () => ContractHarness): void {
  describe('epochs', () => {
    let sandbox: ContractSandbox;
    beforeEach(async () => (sandbox = await ContractSandbox.start(harness())));
    afterEach(() => sandbox.remove());
    const connect = (hostEpoch: number) => harness().runtime.connect(sandbox.spec.sandboxId, { hostEpoch });

    it('SBX-5 of hosts: a newer one closes the older connections, which then change nothing', async () => {
      const { processId } = await sandbox.run(harness().commands.hang('x'), { stdin: 'pipe' });
      const zombieOutput = await sandbox.attach(processId);
      const fresh = await connect(2);
      expect(await sandbox.connection.closed).toEqual({ code: 'sandbox.epoch_stale' });
      await failsWith(zombieOutput.ended, 'sandbox.epoch_stale');
      const zombie = sandbox.connection;
      for (const attempt of mutations(zombie, processId, 9)) await failsWith(attempt(), 'sandbox.epoch_stale');
      await failsWith(connect(1), 'sandbox.epoch_stale');
      expect(await fresh.info(processId)).toMatchObject({ state: 'running', epoch: 1, inputKeys: [] });
      fresh.close();
      expect(await fresh.closed).toEqual({ code: 'closed' });
    });

    it('SBX-5 of hosts: equal ones work side by side', async () => {
      const second = await connect(1);
      const { processId } = await sandbox.run(harness().commands.cat(), { stdin: 'pipe' });
      await second.input(processId, { key: 'a', data: Buffer.from('a'), epoch: 1 });
      await sandbox.connection.input(processId, { key: 'b', data: Buffer.from('b'), epoch: 1 });
      await second.closeInput(processId, { epoch: 1 });
      expect((await sandbox.finish(processId)).text).toBe('ab');
      second.close();
      expect(await sandbox.connection.info(processId)).toMatchObject({ state: 'exited' });
    });

    it('SBX-8 of processes: a lower one than was seen is refused by every call that changes something', async () => {
      const { processId } = await sandbox.run(harness().commands.hang('x'), { stdin: 'pipe', epoch: 5 });
      for (const attempt of mutations(sandbox.connection, processId, 4))
        await failsWith(attempt(), 'sandbox.epoch_stale');
      expect(await sandbox.connection.info(processId)).toMatchObject({ state: 'running', epoch: 5, inputKeys: [] });
    });

    it('SBX-8 of processes: a higher one takes over, and ends the output of lower ones', async () => {
      const { processId } = await sandbox.run(harness().commands.hang('x'));
      const old = await sandbox.attach(processId, 0, 1);
      const oldReader = old[Symbol.asyncIterator]();
      expect(textOf(await readUntil(oldReader, (got) => textOf(got) === 'x\n'))).toBe('x\n');
      const taken = await sandbox.attach(processId, 0, 2);
      await failsWith(oldReader.next(), 'sandbox.epoch_stale');
      await failsWith(old.ended, 'sandbox.epoch_stale');
      expect(textOf(await readUntil(taken[Symbol.asyncIterator](), (got) => got.length > 0))).toBe('x\n');
      await failsWith(sandbox.attach(processId, 0, 1), 'sandbox.epoch_stale');
      expect((await sandbox.connection.info(processId)).epoch).toBe(2);
    });

    it('SBX-8 of processes: a repeated start with a higher one takes over without starting again', async () => {
      const first = await sandbox.run(harness().commands.hang('x'));
      const { processId, pid } = first;
      const again = await sandbox.run(harness().commands.hang('y'), { processId, epoch: 3 });
      expect(again).toMatchObject({ existed: true, pid, epoch: 3 });
      await failsWith(sandbox.run(harness().commands.hang('z'), { processId, epoch: 2 }), 'sandbox.epoch_stale');
    });

    it('SBX-5 a connection that its owner closed leaves the processes alone', async () => {
      const { processId } = await sandbox.run(harness().commands.cat(), { stdin: 'pipe' });
      const output = await sandbox.attach(processId);
      sandbox.connection.close();
      await failsWith(output.ended, 'sandbox.connection_lost');
      await failsWith(sandbox.connection.info(processId), 'sandbox.connection_lost');
      const next = await connect(1);
      expect(await next.info(processId)).toMatchObject({ state: 'running' });
      await next.closeInput(processId, { epoch: 2 });
      await eventually(
        () => next.info(processId),
        ({ state }) => state === 'exited',
      );
      next.close();
    });
  });
}

/** Every call that changes something, with this epoch. */
function mutations(connection: SandboxConnection, processId: string, epoch: number): (() => Promise<unknown>)[] {
  return [
    () => connection.start({ processId, argv: ['echo'], cwd: '/', env: {}, stdin: 'null', epoch }),
    () => connection.attach(processId, { fromOffset: 0, epoch }),
    () => connection.input(processId, { key: 'zombie', data: Buffer.from('z'), epoch }),
    () => connection.closeInput(processId, { epoch }),
    () => connection.signal(processId, { signal: 'SIGKILL', scope: 'tree', epoch }),
    () => connection.acknowledge(processId, { offset: 0, epoch }),
    () => connection.forget(processId, { epoch }),
  ];
}
