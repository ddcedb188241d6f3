// Starting, ending, listing and forgetting processes.
import { newId } from '#kernel';
import { type ContractHarness, ContractSandbox, eventually, failsWith } from './contract-harness.js';

export function processContract(harness: () => ContractHarness): void {
  describe('processes', () => {
    let sandbox: ContractSandbox;
    beforeAll(async () => (sandbox = await ContractSandbox.start(harness())));
    afterAll(() => sandbox.remove());
    const commands = () => harness().commands;

    it('SBX-6 run, print and end with their exit code', async () => {
      const { processId, existed } = await sandbox.run(commands().echo('hello'));
      expect(existed).toBe(false);
      const { text, exit } = await sandbox.finish(processId);
      expect([text, exit]).toEqual(['hello\n', { code: 0, signal: null, outOfMemory: false }]);
      const info = await sandbox.connection.info(processId);
      expect(info).toMatchObject({ state: 'exited', exit: { code: 0 }, headOffset: 6, tailOffset: 0, epoch: 1 });
      expect(info.exitedAtMs).toBeGreaterThanOrEqual(info.startedAtMs);
      expect(info.bootId).toBe(sandbox.connection.bootId);
    });

    it.each([1, 3, 127, 137, 255])('SBX-6 report exit code %i as a code', async (code) => {
      const { processId } = await sandbox.run(commands().exit(code));
      expect((await sandbox.finish(processId)).exit).toEqual({ code, signal: null, outOfMemory: false });
    });

    it('SBX-6 are started once, however often they are asked for, and at the same time too', async () => {
      const request = { processId: newId() };
      const started = await Promise.all(Array.from({ length: 5 }, () => sandbox.run(commands().echo('once'), request)));
      expect(started.filter(({ existed }) => !existed)).toHaveLength(1);
      expect((await sandbox.finish(request.processId)).text).toBe('once\n');
      const again = await sandbox.run(commands().echo('twice'), request);
      expect(again).toMatchObject({ existed: true, state: 'exited', headOffset: 5 });
    });

    it.each([
      ['a program that does not exist', ['no-such-program'], '/workspace', 'ENOENT', 'program'],
      ['a working directory that does not exist', ['echo', 'x'], '/no/such/folder', 'ENOENT', 'cwd'],
      ['a relative working directory', ['echo', 'x'], 'workspace', 'EINVAL', 'cwd'],
      ['a NUL byte in an argument', ['echo', 'a\0b'], '/workspace', 'EINVAL', 'program'],
      ['no program at all', [], '/workspace', 'EINVAL', 'program'],
      ['a program whose name looks like a flag', ['-c'], '/workspace', 'ENOENT', 'program'],
    ])('SBX-21 that cannot start say why: %s', async (_what, argv, cwd, spawnError, spawnErrorAt) => {
      const { processId, pid } = await sandbox.run(argv, { cwd });
      expect(pid).toBeNull();
      const { text, exit } = await sandbox.finish(processId);
      expect(text).toBe('');
      expect(exit).toEqual({ code: null, signal: null, outOfMemory: false, spawnError, spawnErrorAt });
    });

    it('SBX-6 get their arguments as they are', async () => {
      const words = 'a  b\t"c" \'d\' $HOME `e` ; ü \\ *';
      const { processId } = await sandbox.run(commands().echo(words));
      expect((await sandbox.finish(processId)).text).toBe(`${words}\n`);
    });

    it('SBX-6 can be started many at a time', async () => {
      const started = await Promise.all(
        Array.from({ length: 60 }, (_, index) => sandbox.run(commands().echo(String(index)))),
      );
      const texts = await Promise.all(started.map(async ({ processId }) => (await sandbox.finish(processId)).text));
      expect(texts).toEqual(started.map((_, index) => `${index}\n`));
    });

    it('SBX-6 are listed in order of their ids', async () => {
      const ids = [newId(), newId(), newId()].sort();
      for (const processId of [...ids].reverse()) await sandbox.run(commands().echo('x'), { processId });
      const listed = (await sandbox.connection.list()).map(({ processId }) => processId);
      expect(listed).toEqual([...listed].sort());
      expect(listed).toEqual(expect.arrayContaining(ids));
    });

    it('SBX-6 that are unknown are said to be so', async () => {
      const id = newId();
      await failsWith(sandbox.connection.info(id), 'sandbox.process_not_found');
      await failsWith(sandbox.attach(id), 'sandbox.process_not_found');
      await failsWith(
        sandbox.connection.input(id, { key: 'k', data: Buffer.from('x'), epoch: 1 }),
        'sandbox.process_not_found',
      );
      await sandbox.connection.forget(id, { epoch: 1 });
    });

    it('SBX-10 are forgotten with their output once they have ended, not before', async () => {
      const { processId } = await sandbox.run(commands().hang('on'));
      await failsWith(sandbox.connection.forget(processId, { epoch: 1 }), 'sandbox.process_running');
      await sandbox.connection.signal(processId, { signal: 'SIGKILL', scope: 'tree', epoch: 1 });
      await eventually(
        () => sandbox.connection.info(processId),
        ({ state }) => state === 'exited',
      );
      await sandbox.connection.forget(processId, { epoch: 1 });
      await failsWith(sandbox.connection.info(processId), 'sandbox.process_not_found');
    });
  });
}
