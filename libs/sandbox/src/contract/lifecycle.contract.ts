// Sandboxes as a whole: made once, found again, lost honestly, and their output still there afterwards.
import { newId } from '#kernel';
import { type ContractHarness, ContractSandbox, eventually, failsWith } from './contract-harness.js';

export function lifecycleContract(harness: () => ContractHarness): void {
  describe('sandboxes', () => {
    const sandboxes: ContractSandbox[] = [];
    const start = async (limits = {}): Promise<ContractSandbox> => {
      const sandbox = await ContractSandbox.start(harness(), limits);
      sandboxes.push(sandbox);
      return sandbox;
    };
    afterEach(async () => {
      for (const sandbox of sandboxes.splice(0)) await sandbox.remove();
    });

    it('SBX-25 are made once, however many callers ask at the same time', async () => {
      const { runtime } = harness();
      const spec = harness().spec();
      const summaries = await Promise.all(Array.from({ length: 4 }, () => runtime.ensure(spec)));
      expect(new Set(summaries.map(({ containerId }) => containerId)).size).toBe(1);
      expect(await runtime.ensure(spec)).toEqual(summaries[0]);
      const listed = (await runtime.list()).filter(({ sandboxId }) => sandboxId === spec.sandboxId);
      expect(listed).toEqual([summaries[0]]);
      await runtime.remove(spec.sandboxId, { data: true });
      expect((await runtime.list()).some(({ sandboxId }) => sandboxId === spec.sandboxId)).toBe(false);
    });

    it('SBX-25 that are unknown are lost, and removing or stopping them is nothing', async () => {
      const { runtime } = harness();
      await failsWith(runtime.connect(newId(), { hostEpoch: 1 }), 'sandbox.lost');
      await runtime.remove(newId(), { data: true });
      await runtime.stop(newId());
    });

    it('SBX-12 that died are lost; the next boot has their output and says that their processes are', async () => {
      const sandbox = await start();
      const { runtime, commands } = harness();
      const { sandboxId } = sandbox.spec;
      const ended = await sandbox.run(commands.echo('complete'));
      await sandbox.finish(ended.processId);
      const cut = await sandbox.run(commands.hang('so far'), { epoch: 4 });
      await eventually(
        () => sandbox.connection.info(cut.processId),
        ({ headOffset }) => headOffset === 7,
      );

      await harness().crash(sandboxId);
      expect(await sandbox.connection.closed).toEqual({ code: 'sandbox.connection_lost' });
      await failsWith(runtime.connect(sandboxId, { hostEpoch: 1 }), 'sandbox.lost');
      expect(await runtime.list()).toContainEqual(expect.objectContaining({ sandboxId, state: 'stopped' }));

      await runtime.ensure(sandbox.spec);
      const next = await runtime.connect(sandboxId, { hostEpoch: 1 });
      expect(next.bootId).not.toBe(sandbox.connection.bootId);
      const lost = await next.info(cut.processId);
      expect(lost).toMatchObject({ state: 'exited', exit: { code: null, signal: null, lost: true }, headOffset: 7 });
      expect(lost).toMatchObject({ bootId: sandbox.connection.bootId, exitedAtMs: null });
      expect(await next.info(ended.processId)).toMatchObject({ exit: { code: 0 }, headOffset: 9 });
      const output = await next.attach(cut.processId, { fromOffset: 3, epoch: 4 });
      const chunks = [];
      for await (const chunk of output) chunks.push(Buffer.from(chunk.data).toString());
      expect([chunks.join(''), await output.ended]).toEqual(['far\n', expect.objectContaining({ lost: true })]);

      const request = {
        processId: cut.processId,
        argv: commands.echo('x'),
        cwd: '/workspace',
        env: {},
        stdin: 'null' as const,
      };
      expect(await next.start({ ...request, epoch: 5 })).toMatchObject({ existed: true, state: 'exited' });
      await failsWith(
        next.input(cut.processId, { key: 'k', data: Buffer.from('x'), epoch: 5 }),
        'sandbox.input_closed',
      );
      await failsWith(next.info(newId()), 'sandbox.process_not_found');
      await next.forget(cut.processId, { epoch: 5 });
      await failsWith(next.info(cut.processId), 'sandbox.process_not_found');
      next.close();
    });

    it('SBX-5 remember the host epoch over a restart', async () => {
      const sandbox = await start();
      const { runtime } = harness();
      (await runtime.connect(sandbox.spec.sandboxId, { hostEpoch: 7 })).close();
      await runtime.stop(sandbox.spec.sandboxId);
      await runtime.ensure(sandbox.spec);
      await failsWith(runtime.connect(sandbox.spec.sandboxId, { hostEpoch: 6 }), 'sandbox.epoch_stale');
      (await runtime.connect(sandbox.spec.sandboxId, { hostEpoch: 7 })).close();
    });

    it('SBX-20 out of memory: the job is ended and says so; the sandbox goes on', async () => {
      const sandbox = await start();
      const { processId } = await sandbox.run(harness().commands.hog());
      expect((await sandbox.finish(processId)).exit).toEqual({ code: null, signal: 'SIGKILL', outOfMemory: true });
      expect((await sandbox.connection.memoryStatus()).oomKills).toBeGreaterThanOrEqual(1);
      const after = await sandbox.run(harness().commands.echo('alive'));
      expect(await sandbox.finish(after.processId)).toMatchObject({ text: 'alive\n', exit: { outOfMemory: false } });
    });
  });
}
