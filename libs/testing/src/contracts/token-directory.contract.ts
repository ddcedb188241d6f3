// What every TokenDirectory must do.
import type { TokenDirectory, TokenOwner } from '#domain';

export interface TokenDirectorySubject {
  directory: TokenDirectory;
  /** A live process with that token; tells whom the directory should name. `runId` is null: it works on nothing yet. */
  addProcess(token: string): Promise<TokenOwner>;
  /** Gives the process a run to work on, and tells its id. */
  startRun(owner: TokenOwner): Promise<string>;
  endRun(owner: TokenOwner): Promise<void>;
  endProcess(owner: TokenOwner): Promise<void>;
  /** From now on nothing answers. */
  breakDown(): Promise<void>;
  /** Everything that is stored, as one text. */
  stored(): Promise<string>;
}

/** `subject` makes a fresh one per test; the caller cleans up. */
export function describeTokenDirectory(name: string, subject: () => Promise<TokenDirectorySubject>): void {
  describe(`${name} as a token directory`, () => {
    it('BRK-4 names the live process that a token was made for, and nobody for any other token', async () => {
      const { directory, addProcess } = await subject();
      const [one, two] = [await addProcess('token-one'), await addProcess('token-two')];
      expect(await directory.findOwner('token-one')).toEqual(one);
      expect(await directory.findOwner('token-two')).toEqual(two);
      for (const other of ['', 'token', 'token-one ', 'TOKEN-ONE', one.processId, "' OR ''='", '\u0000']) {
        expect(await directory.findOwner(other)).toBeUndefined();
      }
    });

    it('BRK-4 names the run that the process works on now', async () => {
      const { directory, addProcess, startRun, endRun } = await subject();
      const owner = await addProcess('token');
      const runId = await startRun(owner);
      expect(await directory.findOwner('token')).toEqual({ ...owner, runId });
      await endRun(owner);
      expect(await directory.findOwner('token')).toEqual(owner);
    });

    it('BRK-4 forgets a token when its process ends', async () => {
      const { directory, addProcess, endProcess } = await subject();
      const owner = await addProcess('token');
      await endProcess(owner);
      expect(await directory.findOwner('token')).toBeUndefined();
    });

    it('BRK-4 stores no token, nor shows a hash as one', async () => {
      const { directory, addProcess, stored } = await subject();
      await addProcess('a-very-secret-token');
      const text = await stored();
      expect(text).not.toContain('a-very-secret-token');
      for (const hash of text.match(/\b[0-9a-f]{64}\b/g) ?? []) expect(await directory.findOwner(hash)).toBeUndefined();
    });

    it('BRK-5 says service.unavailable when it cannot be asked', async () => {
      const { directory, addProcess, breakDown } = await subject();
      await addProcess('token');
      await breakDown();
      await expect(directory.findOwner('token')).rejects.toMatchObject({ code: 'service.unavailable' });
    });
  });
}
