// The Docker engine: one that answers already, or one of our own, which all instances on this machine share.
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shortHash } from '../data-layout.ts';
import { findProgram } from '../host/find-program.ts';
import { poll } from '../host/poll.ts';
import { readIfPresent, writePrivate } from '../host/private-file.ts';
import { identify, isAlive, signalProcess, type ProcessIdentity } from '../host/process-identity.ts';
import { StepError, type Say } from '../step.ts';
import { rotateIfLarge, USUAL_LOG_LIMITS, withLogFile } from '../supervisor/service-log.ts';
import { DockerApi } from './docker-api.ts';

export const DEFAULT_SOCKET = '/var/run/docker.sock';
export const DEFAULT_ENGINE_DIR = '/var/lib/gantry/engine';
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 60_000;

/** Where our own engine keeps everything. */
export interface EngineFolders {
  root: string;
  /** Sockets of containerd and its shims: a short path, because the kernel limits theirs. */
  exec: string;
}

export const engineFolders = (root: string): EngineFolders => ({ root, exec: `/run/gantry-engine-${shortHash(root)}` });

const socketOf = (folders: EngineFolders): string => join(folders.exec, 'docker.sock');
const recordOf = (folders: EngineFolders): string => join(folders.root, 'engine.json');
const usersOf = (folders: EngineFolders): string => join(folders.root, 'users');

export interface FoundEngine {
  api: DockerApi;
  /** Started by Gantry, on this machine. */
  own: boolean;
}

/** The given engine, else the usual one, else our own; undefined when none answers. A given one must answer. */
export async function findEngine(given: string | undefined, folders: EngineFolders): Promise<FoundEngine | undefined> {
  if (given !== undefined) {
    const api = new DockerApi(given);
    if (await api.version()) return { api, own: given === socketOf(folders) };
    throw new StepError(`No Docker engine answers on ${given}.`, 'Start it, or unset DOCKER_SOCKET and DOCKER_HOST.');
  }
  for (const [socket, own] of [
    [DEFAULT_SOCKET, false],
    [socketOf(folders), true],
  ] as const) {
    const api = new DockerApi(socket);
    if (await api.version()) return { api, own };
  }
  return undefined;
}

export const dockerdIsHere = (): boolean => findProgram('dockerd') !== undefined;

/**
 * Starts our own engine with live-restore. It has no bridge network and sets no firewall rule: sandboxes have no network and images are
 * built on the host's, so the machine's networking stays as it is.
 */
export async function startOwnEngine(folders: EngineFolders, say: Say): Promise<FoundEngine> {
  const program = findProgram('dockerd');
  if (!program) throw new StepError('dockerd is not installed.', 'As root: apt-get install docker.io');
  clearStalePidFiles(folders);
  [folders.root, folders.exec].forEach((folder) => mkdirSync(folder, { recursive: true, mode: 0o711 }));
  const logFile = join(folders.root, 'dockerd.log');
  say(`starting an engine of our own in ${folders.root}`);
  rotateIfLarge(logFile, USUAL_LOG_LIMITS); // it holds warnings alone: a look at each start is enough
  const child = withLogFile(logFile, (log) =>
    spawn(program, dockerdArguments(folders), { cwd: '/', detached: true, stdio: ['ignore', log, log] }),
  );
  let ended: string | undefined;
  child.once('error', (error) => (ended = error.message));
  child.once('exit', (code, signal) => (ended = `it ended with ${signal ?? `code ${code}`}`));
  child.unref();
  const identity = child.pid === undefined ? undefined : identify(child.pid);
  if (identity) writePrivate(recordOf(folders), JSON.stringify(identity));
  const api = new DockerApi(socketOf(folders));
  const version = await poll(START_TIMEOUT_MS, async () => ended ?? (await api.version()));
  if (!version || ended) {
    throw new StepError(
      `The Docker engine did not start: ${ended ?? 'it does not answer'}.`,
      `Read ${logFile}, or set DOCKER_HOST to an engine of your own.`,
    );
  }
  return { api, own: true };
}

function dockerdArguments(folders: EngineFolders): string[] {
  return [
    '--live-restore',
    `--data-root=${join(folders.root, 'data')}`,
    `--exec-root=${folders.exec}`,
    `--pidfile=${join(folders.exec, 'docker.pid')}`,
    `--host=unix://${socketOf(folders)}`,
    '--bridge=none',
    '--iptables=false',
    '--ip6tables=false',
    '--log-level=warn',
  ];
}

/** After a hard stop dockerd and containerd find the pid files of their predecessors and, if those pids are in use again, refuse to start. */
function clearStalePidFiles(folders: EngineFolders): void {
  if (engineProcess(folders)) return;
  rmSync(join(folders.exec, 'docker.pid'), { force: true });
  rmSync(join(folders.exec, 'containerd', 'containerd.pid'), { force: true });
}

/** Our engine's process, if it lives. */
function engineProcess(folders: EngineFolders): ProcessIdentity | undefined {
  const record = readIfPresent(recordOf(folders));
  const identity = record === undefined ? undefined : (JSON.parse(record) as ProcessIdentity);
  return identity && isAlive(identity) ? identity : undefined;
}

/** Remembers that the instance in `dataDir` uses our engine. */
export function noteEngineUser(folders: EngineFolders, dataDir: string): void {
  mkdirSync(usersOf(folders), { recursive: true });
  writeFileSync(join(usersOf(folders), shortHash(dataDir)), dataDir);
}

/** Why our engine was left running, or that it was stopped, or that it did not run. */
export type EngineStop = 'not_running' | 'stopped' | 'containers_running' | 'used_by_others';

/** Stops our engine when the instance in `dataDir` was the last to use it and no container runs, whosever it is (R19, OPS-10). */
export async function stopEngineIfUnused(
  folders: EngineFolders,
  dataDir: string,
  usesEngine: (dataDir: string) => Promise<boolean>,
): Promise<EngineStop> {
  const identity = engineProcess(folders);
  if (!identity) return 'not_running';
  rmSync(join(usersOf(folders), shortHash(dataDir)), { force: true });
  for (const name of readdirSync(usersOf(folders))) {
    if (await usesEngine(readIfPresent(join(usersOf(folders), name)) ?? '')) return 'used_by_others';
  }
  const api = new DockerApi(socketOf(folders));
  if ((await api.containers({ running: true })).length > 0) return 'containers_running';
  signalProcess(identity, 'SIGTERM');
  if (!(await poll(STOP_TIMEOUT_MS, () => !isAlive(identity)))) {
    throw new StepError('Our Docker engine does not end.', `Read ${join(folders.root, 'dockerd.log')}.`);
  }
  return 'stopped';
}
