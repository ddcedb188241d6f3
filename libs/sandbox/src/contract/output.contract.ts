// Output: one numbered stream per process, read from anywhere, held back at the cap, deleted when acknowledged.
import {
  type ContractHarness,
  ContractSandbox,
  FloodCheck,
  eventually,
  failsWith,
  readUntil,
  textOf,
} from './contract-harness.js';

const KIB = 1024;
const MIB = KIB * KIB;
/** What may be read after the cap was reached: one chunk of each channel. */
const CHUNK_SLACK = 128 * KIB;

export function outputContract(harness: () => ContractHarness): void {
  describe('output', () => {
    let sandbox: ContractSandbox;
    beforeAll(async () => (sandbox = await ContractSandbox.start(harness(), { spoolBytes: 4 * MIB })));
    afterAll(() => sandbox.remove());
    const commands = () => harness().commands;

    it('SBX-9 is numbered by byte: from any offset comes exactly the rest', async () => {
      const { processId } = await sandbox.run(commands().echo('0123456789'));
      for (const from of [0, 1, 5, 10, 11]) {
        const { chunks, text } = await sandbox.finish(processId, from);
        expect(text).toBe('0123456789\n'.slice(from));
        if (from < 11) expect(chunks[0]?.offset).toBe(from);
      }
    });

    it('SBX-9 keeps stdout and stderr in their order, under one count', async () => {
      const { processId } = await sandbox.run(commands().route(), { stdin: 'pipe' });
      const output = (await sandbox.attach(processId))[Symbol.asyncIterator]();
      const seen: string[] = [];
      const channels = ['out', 'err', 'err', 'out', 'err', 'out', 'out'];
      for (const [index, channel] of channels.entries()) {
        const data = Buffer.from(`${channel} ${index}\n`);
        await sandbox.connection.input(processId, { key: `line:${index}`, data, epoch: 1 });
        const chunks = await readUntil(output, (got) => textOf(got).endsWith('\n'));
        seen.push(...chunks.map((chunk) => `${chunk.channel} ${chunk.offset} ${textOf([chunk]).trim()}`));
      }
      expect(seen).toEqual(channels.map((channel, index) => `std${channel} ${index * 2} ${index}`));
      await sandbox.connection.closeInput(processId, { epoch: 1 });
      const replay = await sandbox.finish(processId);
      expect(replay.chunks.map(({ channel, offset }) => `${channel} ${offset}`)).toEqual(
        seen.map((line) => line.split(' ').slice(0, 2).join(' ')),
      );
    });

    it('SBX-9 goes to any number of readers, each at its own place', async () => {
      const { processId } = await sandbox.run(commands().flood(200 * KIB));
      await eventually(
        () => sandbox.connection.info(processId),
        ({ headOffset }) => headOffset >= 100 * KIB,
      );
      const [whole, rest] = await Promise.all([sandbox.finish(processId), sandbox.finish(processId, 100 * KIB)]);
      expect(whole.text).toHaveLength(200 * KIB);
      expect(rest.text).toBe(whole.text.slice(100 * KIB));
    });

    it('SBX-9 follows a process that is still running', async () => {
      const { processId } = await sandbox.run(commands().hang('first'));
      const output = await sandbox.attach(processId);
      expect(textOf(await readUntil(output[Symbol.asyncIterator](), (got) => textOf(got).includes('\n')))).toBe(
        'first\n',
      );
      output.close();
      await sandbox.connection.signal(processId, { signal: 'SIGKILL', scope: 'tree', epoch: 1 });
    });

    it('SBX-9 is not there beyond the head or below the tail', async () => {
      const { processId } = await sandbox.run(commands().echo('x'));
      await sandbox.finish(processId);
      await failsWith(sandbox.attach(processId, 3), 'stream.offset_invalid');
      await failsWith(sandbox.connection.acknowledge(processId, { offset: 3, epoch: 1 }), 'stream.offset_invalid');
    });

    it('SBX-11 is held back at the cap and never dropped: after acknowledgements every byte comes', async () => {
      const bytes = 12 * MIB;
      const { processId } = await sandbox.run(commands().flood(bytes));
      const held = async () => (await sandbox.connection.info(processId)).headOffset;
      const head = await eventually(held, (offset) => offset >= 4 * MIB);
      expect(head).toBeLessThanOrEqual(4 * MIB + CHUNK_SLACK);
      const check = new FloodCheck(0);
      const output = await sandbox.attach(processId);
      for await (const chunk of output) {
        check.take(chunk);
        // What is ahead of the reader never exceeds the cap, for nothing else was acknowledged.
        if (check.bytes % MIB < chunk.data.length) {
          expect((await held()) - check.bytes).toBeLessThanOrEqual(4 * MIB + CHUNK_SLACK);
          await sandbox.connection.acknowledge(processId, { offset: check.bytes, epoch: 1 });
        }
      }
      expect([check.bytes, check.isExact()]).toEqual([bytes, true]);
      expect(await output.ended).toMatchObject({ code: 0 });
    });

    it('SBX-10 is deleted below what was acknowledged, and only there', async () => {
      const { processId } = await sandbox.run(commands().flood(3 * MIB));
      expect((await sandbox.finish(processId)).text).toHaveLength(3 * MIB);
      await sandbox.connection.acknowledge(processId, { offset: 2 * MIB + 100, epoch: 1 });
      const { tailOffset } = await sandbox.connection.info(processId);
      expect(tailOffset).toBeGreaterThan(0);
      expect(tailOffset).toBeLessThanOrEqual(2 * MIB + 100);
      await failsWith(sandbox.attach(processId, tailOffset - 1), 'stream.offset_invalid');
      expect((await sandbox.finish(processId, 2 * MIB + 100)).text).toHaveLength(MIB - 100);
      await sandbox.connection.acknowledge(processId, { offset: 5, epoch: 1 });
      expect((await sandbox.connection.info(processId)).tailOffset).toBe(tailOffset);
    });

    it('SBX-14 of one process does not wait for a reader of another on the same connection', async () => {
      const slow = await sandbox.run(commands().flood(3 * MIB));
      await eventually(
        () => sandbox.connection.info(slow.processId),
        ({ state }) => state === 'exited',
      );
      const unread = await sandbox.attach(slow.processId);
      const iterator = unread[Symbol.asyncIterator]();
      await iterator.next();
      const { processId } = await sandbox.run(commands().flood(2 * MIB));
      expect((await sandbox.finish(processId)).text).toHaveLength(2 * MIB);
      unread.close();
      expect(await Promise.race([unread.ended, Promise.resolve('pending')])).toBe('pending');
    });

    it('SBX-14 of a reader that has stopped is not buffered for', async () => {
      const large = await ContractSandbox.start(harness(), { spoolBytes: 64 * MIB });
      const { processId } = await large.run(commands().flood(48 * MIB));
      const iterator = (await large.attach(processId))[Symbol.asyncIterator]();
      await iterator.next();
      const before = process.memoryUsage().arrayBuffers;
      await eventually(
        () => large.connection.info(processId),
        ({ state }) => state === 'exited',
      );
      // The fake's spool is in this process.
      if (!harness().spoolIsHere) expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * MIB);
      await large.remove();
    });

    it('SBX-9 of many bytes arrives exactly, through a spool that is much smaller', async () => {
      const { largeBytes } = harness();
      const { processId } = await sandbox.run(commands().flood(largeBytes));
      const check = new FloodCheck(0);
      let acknowledged = 0;
      for await (const chunk of await sandbox.attach(processId)) {
        check.take(chunk);
        if (check.bytes - acknowledged < MIB) continue;
        acknowledged = check.bytes;
        await sandbox.connection.acknowledge(processId, { offset: acknowledged, epoch: 1 });
      }
      expect([check.bytes, check.isExact()]).toEqual([largeBytes, true]);
    });
  });
}
