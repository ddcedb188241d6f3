// One at a time, over processes: a lock file that names its holder, so that the lock of a dead one is taken over.
import { linkSync, mkdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { StepError } from '../step.ts';
import { poll } from './poll.ts';
import { readIfPresent } from './private-file.ts';
import { identify, isAlive, type ProcessIdentity } from './process-identity.ts';

/** Holds the lock while `work` runs. Waits up to `waitMs` for another holder; then throws, naming it. */
export async function withLock<T>(path: string, waitMs: number, work: () => Promise<T>): Promise<T> {
  mkdirSync(dirname(path), { recursive: true });
  const taken = await poll(waitMs, () => tryLock(path));
  if (!taken) {
    throw new StepError(
      `Another command is at work here (pid ${holderOf(path)?.pid ?? 'unknown'}).`,
      'Wait until it has ended, then run it again.',
    );
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

/** Makes the lock with its whole content in one step, by a hard link; removes one whose holder is dead first. */
function tryLock(path: string): boolean {
  const holder = holderOf(path);
  if (holder && !isAlive(holder)) rmSync(path, { force: true });
  const draft = `${path}.${process.pid}`;
  writeDraft(draft);
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    unlinkSync(draft);
  }
}

function writeDraft(draft: string): void {
  try {
    writeFileSync(draft, JSON.stringify(identify(process.pid)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    throw new StepError(`You may not write to ${dirname(draft)}.`, 'Run it as the user who ran `make up`.', error);
  }
}

function holderOf(path: string): ProcessIdentity | undefined {
  const text = readIfPresent(path);
  return text === undefined ? undefined : (JSON.parse(text) as ProcessIdentity);
}
