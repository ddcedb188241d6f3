// What a sandbox has on the host besides volumes: the folder of its socket and its user files. The socket's folder can be
// written by root inside, so nothing in it is ever opened by name: a link there must lead nowhere.
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { type Socket, connect } from 'node:net';
import { join } from 'node:path';
import { AppError } from '#kernel';
import { LAYOUT } from './container-layout.js';
import { shortId } from './identity.js';
import type { SandboxUserFiles } from './user-files.js';

/** open(2): a handle on the file itself, which cannot read or write it. Not among Node's constants. */
const O_PATH = 0o10000000;
const CONNECT_DEADLINE_MS = 5000;

export class RunFolder {
  readonly root: string;
  readonly socketFolder: string;
  readonly passwdFile: string;
  readonly groupFile: string;

  constructor(dataDir: string, sandboxId: string) {
    this.root = join(dataDir, 'run', shortId(sandboxId));
    this.socketFolder = join(this.root, 'sock');
    this.passwdFile = join(this.root, 'passwd');
    this.groupFile = join(this.root, 'group');
  }

  async prepare({ passwd, group }: SandboxUserFiles): Promise<void> {
    await makeFolder(this.root, 0o700);
    // Root inside has no capability to write into another's folder. Where the worker is not root, others are kept out above.
    await makeFolder(this.socketFolder, process.getuid?.() === 0 ? 0o700 : 0o777);
    await Promise.all([writeIfDifferent(this.passwdFile, passwd), writeIfDifferent(this.groupFile, group)]);
  }

  /** Only after the container is gone: until then its content may change underneath. */
  async remove(): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }

  /**
   * Connects to sandboxd's socket by the file that was looked at, not by its name: whatever is put in its place meanwhile is not
   * followed, and neither is the length of the path limited. Throws `sandbox.connection_lost`.
   */
  async connect(): Promise<Socket> {
    let handle: number;
    try {
      handle = openSync(join(this.socketFolder, LAYOUT.socketName), O_PATH | constants.O_NOFOLLOW);
    } catch (error) {
      throw notConnected(error);
    }
    try {
      if (!fstatSync(handle).isSocket()) throw notConnected(new Error('There is no socket.'));
      return await connected(`/proc/self/fd/${handle}`);
    } finally {
      closeSync(handle);
    }
  }
}

async function connected(path: string): Promise<Socket> {
  return new Promise<Socket>((resolve, reject) => {
    const socket = connect(path);
    const fail = (error: Error): void => {
      socket.destroy();
      reject(notConnected(error));
    };
    const deadline = setTimeout(() => fail(new Error('The socket did not answer.')), CONNECT_DEADLINE_MS);
    socket.once('error', fail);
    socket.once('connect', () => {
      clearTimeout(deadline);
      socket.off('error', fail);
      resolve(socket);
    });
    socket.once('close', () => clearTimeout(deadline));
  });
}

const notConnected = (cause: unknown): AppError =>
  new AppError('sandbox.connection_lost', 'The supervisor of the sandbox does not answer.', { cause });

/** A running container keeps the file it has mounted, so an unchanged one must stay the same file. */
async function writeIfDifferent(path: string, content: string): Promise<void> {
  if ((await readIfThere(path)) === content) return;
  // Unique, for several may prepare the same sandbox at once.
  const fresh = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  await writeFile(fresh, content, { mode: 0o644 });
  await rename(fresh, path);
}

/** With exactly this mode, whatever the umask. */
async function makeFolder(path: string, mode: number): Promise<void> {
  await mkdir(path, { recursive: true });
  await chmod(path, mode);
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
