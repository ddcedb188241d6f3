// Takes over a unix socket path without a gap: listens under a name of its own, then renames that over the path.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import type { Server } from 'node:net';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { AppError } from '#kernel';

/**
 * sandboxd connects as root, so root's socket is closed to the jobs beside it: what they open goes through sandboxd's forwarder, whose
 * connections are bounded. A broker that is not root cannot let sandboxd's root in (it has no DAC_OVERRIDE) but by letting everybody in.
 */
const socketMode = (): number => (process.getuid?.() === 0 ? 0o600 : 0o666);
const FOLDER_MODE = 0o755;
const WRITABLE_FOR_OTHERS = 0o022;
/** Twice the length of the queue (511 in Node). */
const MOST_TURNS = 1024;

/**
 * Listens at a path that another process may be serving now. From the rename on every new connection comes here, while that process keeps
 * those it has. The path is never removed, neither before (there would be a gap) nor after (it might be a successor's by then): a dead
 * socket refuses connections, which is what callers should see.
 *
 * Throws `config.invalid` when the folder could be written by others (who could then put their own socket there) or the path is no socket.
 */
export async function listenByRename(server: Server, socketPath: string): Promise<void> {
  const folder = dirname(socketPath);
  prepareFolder(folder);
  checkPath(socketPath);
  const temporary = join(folder, `.${randomBytes(4).toString('hex')}`);
  server.listen(temporary);
  await once(server, 'listening');
  try {
    chmodSync(temporary, socketMode());
    renameSync(temporary, socketPath);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/**
 * Connections made before a successor's rename may still wait in the listening socket's queue, and closing it would reset them. Node takes
 * one in each turn of the event loop, so this waits for a turn that brings none. Without a successor there is always a next one: hence
 * the limit.
 */
export async function acceptWaiting(server: Server): Promise<void> {
  let heard = true;
  const hear = (): void => {
    heard = true;
  };
  server.on('connection', hear).on('drop', hear);
  for (let turn = 0; heard && turn < MOST_TURNS; turn += 1) {
    heard = false;
    // The first ends the turn that runs now; between the two lies a whole look at the sockets.
    await setImmediate();
    await setImmediate();
  }
  server.off('connection', hear).off('drop', hear);
}

function prepareFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
  const stat = lstatSync(folder);
  if (!stat.isDirectory()) throw new AppError('config.invalid', "The broker socket's folder is not a directory.");
  if ((stat.mode & WRITABLE_FOR_OTHERS) !== 0) {
    throw new AppError('config.invalid', "The broker socket's folder must be writable by its owner only.");
  }
}

function checkPath(socketPath: string): void {
  const stat = lstatSync(socketPath, { throwIfNoEntry: false });
  if (stat !== undefined && !stat.isSocket()) {
    throw new AppError('config.invalid', 'The broker socket path is taken by something that is not a socket.');
  }
}
