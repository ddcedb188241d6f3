// Signals: to the group, the session, and everything that a process started.
import { newId } from '#kernel';
import { type ContractHarness, ContractSandbox, eventually, readUntil, textOf } from './contract-harness.js';

export function signalContract(harness: () => ContractHarness): void {
  describe('signals', () => {
    let sandbox: ContractSandbox;
    beforeAll(async () => (sandbox = await ContractSandbox.start(harness())));
    afterAll(() => sandbox.remove());
    const signal = (
      processId: string,
      name: 'SIGINT' | 'SIGTERM' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT',
      scope: 'group' | 'session' | 'tree',
    ) => sandbox.connection.signal(processId, { signal: name, scope, epoch: 1 });
    const living = (name: string) => harness().family(sandbox.spec.sandboxId, name);
    const startFamily = async (): Promise<{ processId: string; name: string }> => {
      const name = `f${newId()}`;
      const { processId } = await sandbox.run(harness().commands.family(name));
      await eventually(
        () => living(name),
        (seen) => seen.length === 3,
      );
      return { processId, name };
    };

    it.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)('SBX-15 %s ends a process, and is its end', async (name) => {
      const { processId } = await sandbox.run(harness().commands.hang('x'));
      const output = await sandbox.attach(processId);
      await readUntil(output[Symbol.asyncIterator](), (got) => textOf(got) === 'x\n');
      expect((await signal(processId, name, 'group')).delivered).toBeGreaterThanOrEqual(1);
      expect((await sandbox.finish(processId)).exit).toEqual({ code: null, signal: name, outOfMemory: false });
    });

    it('SBX-15 a process may handle SIGTERM and end as it likes', async () => {
      const { processId } = await sandbox.run(harness().commands.trap(7));
      const output = await sandbox.attach(processId);
      await readUntil(output[Symbol.asyncIterator](), (got) => textOf(got) === 'ready\n');
      await signal(processId, 'SIGTERM', 'group');
      expect(await sandbox.finish(processId)).toMatchObject({
        text: 'ready\ngot TERM\n',
        exit: { code: 7, signal: null },
      });
    });

    it('SBX-15 to the group reach the group alone', async () => {
      const { processId, name } = await startFamily();
      await signal(processId, 'SIGKILL', 'group');
      await eventually(
        () => living(name),
        (seen) => !seen.includes('group'),
      );
      expect(await living(name)).toEqual(['orphan', 'session']);
      await signal(processId, 'SIGKILL', 'tree');
    });

    it('SBX-15 to the session spare other sessions', async () => {
      const { processId, name } = await startFamily();
      await signal(processId, 'SIGKILL', 'session');
      await eventually(
        () => living(name),
        (seen) => !seen.includes('group'),
      );
      expect(await living(name)).toEqual(['orphan', 'session']);
      await signal(processId, 'SIGKILL', 'tree');
    });

    it('SBX-16 SIGKILL to the tree leaves nothing, double-forked children included', async () => {
      const { processId, name } = await startFamily();
      expect((await sandbox.connection.info(processId)).descendants).toBeGreaterThanOrEqual(3);
      const { delivered } = await signal(processId, 'SIGKILL', 'tree');
      expect(delivered).toBeGreaterThanOrEqual(4);
      expect(await living(name)).toEqual([]);
      expect((await sandbox.finish(processId)).exit).toMatchObject({ code: null, signal: 'SIGKILL' });
    });

    it('SBX-16 SIGKILL to the tree still finds the rest when the first process has ended', async () => {
      const { processId, name } = await startFamily();
      await signal(processId, 'SIGKILL', 'group');
      await eventually(
        () => sandbox.connection.info(processId),
        ({ state }) => state === 'exited',
      );
      expect(await living(name)).toEqual(['orphan', 'session']);
      await signal(processId, 'SIGKILL', 'tree');
      expect(await living(name)).toEqual([]);
      expect((await sandbox.connection.info(processId)).descendants).toBe(0);
    });

    it('SBX-16 SIGKILL to one tree does not touch another', async () => {
      const [one, two] = [await startFamily(), await startFamily()];
      await signal(one.processId, 'SIGKILL', 'tree');
      expect(await living(one.name)).toEqual([]);
      expect(await living(two.name)).toEqual(['group', 'orphan', 'session']);
      await signal(two.processId, 'SIGKILL', 'tree');
    });

    it('SBX-17 what a process leaves behind lives on and is counted', async () => {
      const name = `l${newId()}`;
      const { processId } = await sandbox.run(harness().commands.leave(name));
      expect((await sandbox.finish(processId)).exit).toMatchObject({ code: 0 });
      expect(await living(name)).toEqual(['orphan']);
      expect((await sandbox.connection.info(processId)).descendants).toBeGreaterThanOrEqual(1);
      await signal(processId, 'SIGKILL', 'tree');
      expect(await living(name)).toEqual([]);
    });

    it('SBX-15 SIGSTOP holds a tree and SIGCONT lets it go on', async () => {
      const { processId } = await sandbox.run(harness().commands.cat(), { stdin: 'pipe' });
      const output = (await sandbox.attach(processId))[Symbol.asyncIterator]();
      await signal(processId, 'SIGSTOP', 'tree');
      await sandbox.connection.input(processId, { key: 'k', data: Buffer.from('late'), epoch: 1 });
      const first = output.next();
      // Another process's whole life passes meanwhile; the stopped one has said nothing.
      await sandbox.finish((await sandbox.run(harness().commands.echo('x'))).processId);
      expect((await sandbox.connection.info(processId)).headOffset).toBe(0);
      await signal(processId, 'SIGCONT', 'tree');
      const { value } = (await first) as { value: { data: Uint8Array } };
      expect(Buffer.from(value.data).toString()).toBe('late');
      await sandbox.connection.closeInput(processId, { epoch: 1 });
      expect((await sandbox.finish(processId)).exit).toMatchObject({ code: 0 });
    });

    it('SBX-15 to a process that has ended reach nobody', async () => {
      const { processId } = await sandbox.run(harness().commands.exit(0));
      await sandbox.finish(processId);
      for (const scope of ['group', 'session', 'tree'] as const) {
        expect(await signal(processId, 'SIGTERM', scope)).toEqual({ delivered: 0 });
      }
    });
  });
}
