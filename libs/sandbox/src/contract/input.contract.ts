// Input: by key, whole, in order.
import { type ContractHarness, ContractSandbox, eventually, failsWith } from './contract-harness.js';

export function inputContract(harness: () => ContractHarness): void {
  describe('input', () => {
    let sandbox: ContractSandbox;
    beforeAll(async () => (sandbox = await ContractSandbox.start(harness())));
    afterAll(() => sandbox.remove());
    const cat = async () => (await sandbox.run(harness().commands.cat(), { stdin: 'pipe' })).processId;
    const input = (processId: string, key: string, data: string | Uint8Array, epoch = 1) =>
      sandbox.connection.input(processId, { key, data: Buffer.from(data), epoch });

    it('SBX-7 arrives in order and ends with closeInput', async () => {
      const processId = await cat();
      for (const word of ['one ', 'two ', 'three']) await input(processId, word.trim(), word);
      await sandbox.connection.closeInput(processId, { epoch: 1 });
      await sandbox.connection.closeInput(processId, { epoch: 1 });
      expect(await sandbox.finish(processId)).toMatchObject({ text: 'one two three', exit: { code: 0 } });
    });

    it('SBX-7 with a key that was used is a no-op', async () => {
      const processId = await cat();
      expect(await input(processId, 'run:1', 'a')).toEqual({ duplicate: false });
      expect(await input(processId, 'run:1', 'again')).toEqual({ duplicate: true });
      const many = await Promise.all(Array.from({ length: 5 }, () => input(processId, 'run:2', 'b')));
      expect(many.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
      await sandbox.connection.closeInput(processId, { epoch: 1 });
      expect((await sandbox.finish(processId)).text).toBe('ab');
      expect((await sandbox.connection.info(processId)).inputKeys).toEqual(['run:1', 'run:2']);
      expect(await input(processId, 'run:1', 'late')).toEqual({ duplicate: true });
    });

    it('SBX-7 of any bytes arrives unchanged', async () => {
      const processId = await cat();
      const bytes = Buffer.from(Array.from({ length: 256 }, (_, value) => value));
      await input(processId, 'bytes', bytes);
      await sandbox.connection.closeInput(processId, { epoch: 1 });
      const { chunks } = await sandbox.finish(processId);
      expect(Buffer.concat(chunks.map(({ data }) => data)).equals(bytes)).toBe(true);
    });

    it('SBX-7 of several megabytes is one piece', async () => {
      const processId = await cat();
      const size = 5 * 1024 * 1024;
      const output = sandbox.finish(processId);
      await input(processId, 'large', Buffer.alloc(size, 'x'));
      await sandbox.connection.closeInput(processId, { epoch: 1 });
      expect((await output).text).toHaveLength(size);
    });

    it('SBX-7 is refused when nobody can read it', async () => {
      const ended = await cat();
      await sandbox.connection.closeInput(ended, { epoch: 1 });
      await failsWith(input(ended, 'after-close', 'x'), 'sandbox.input_closed');
      await sandbox.finish(ended);
      await failsWith(input(ended, 'after-exit', 'x'), 'sandbox.input_closed');
      const without = await sandbox.run(harness().commands.hang('x'));
      await failsWith(input(without.processId, 'no-stdin', 'x'), 'sandbox.input_closed');
      await sandbox.connection.signal(without.processId, { signal: 'SIGKILL', scope: 'tree', epoch: 1 });
    });

    it('SBX-7 is refused, not buffered without bound, while the process does not read', async () => {
      const { processId } = await sandbox.run(harness().commands.hang('x'), { stdin: 'pipe' });
      const piece = Buffer.alloc(8 * 1024 * 1024);
      const send = async (): Promise<void> => {
        for (let index = 0; index < 8; index++) await input(processId, `piece:${index}`, piece);
      };
      await failsWith(send(), 'sandbox.input_full');
      await sandbox.connection.signal(processId, { signal: 'SIGKILL', scope: 'tree', epoch: 1 });
      await eventually(
        () => sandbox.connection.info(processId),
        ({ state }) => state === 'exited',
      );
    });
  });
}
