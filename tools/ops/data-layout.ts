// Where everything of one instance lies below its data folder.
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder } from './host/private-file.ts';

/** Longest path of a unix socket on Linux, unix(7). */
const MAX_SOCKET_PATH_BYTES = 107;
/** The longest of our sockets' names below the folder for sockets. */
const LONGEST_SOCKET = 'broker/broker.sock';

export interface DataLayout {
  root: string;
  /** Pids and what runs: 0700. */
  run: string;
  /** Passwords and tokens: 0700. */
  secrets: string;
  logs: string;
  /** Tools that are mounted into sandboxes, one immutable folder per content (R20). */
  tools: string;
  redis: string;
  postgres: string;
  projects: string;
  ports: string;
  supervisorSocket: string;
  brokerSocket: string;
  adminToken: string;
  /** Where answers come from: a key's name, never its value. */
  model: string;
  /** The key that the demo model wants. */
  demoModelKey: string;
}

/** A short name that is the same for the same folder and different for two checkouts. */
export const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);

/** Sockets lie in the data folder, or in a folder with a short name when their paths would be too long for the kernel (OPS-8). */
export function socketFolder(root: string, uid: number): string {
  const fits = Buffer.byteLength(join(root, LONGEST_SOCKET)) <= MAX_SOCKET_PATH_BYTES;
  if (fits) return root;
  return uid === 0 ? `/run/gantry-${shortHash(root)}` : `/tmp/gantry-${uid}-${shortHash(root)}`;
}

/** `root`: absolute. Makes nothing. */
export function dataLayout(root: string, uid = process.getuid?.() ?? 0): DataLayout {
  const sockets = socketFolder(root, uid);
  const at = (...parts: string[]): string => join(root, ...parts);
  return {
    root,
    run: at('run'),
    secrets: at('secrets'),
    logs: at('logs'),
    tools: at('tools'),
    redis: at('redis'),
    postgres: at('postgres'),
    projects: at('projects'),
    ports: at('ports.json'),
    supervisorSocket: join(sockets, 'run', 'supervisor.sock'),
    brokerSocket: join(sockets, 'broker', 'broker.sock'),
    adminToken: at('secrets', 'admin-token'),
    model: at('model.json'),
    demoModelKey: at('secrets', 'demo-model-key'),
  };
}

/** Makes the folders. The root may be passed through by other users (Postgres has its own); what lies below decides for itself. */
export function prepareDataFolder(layout: DataLayout): void {
  mkdirSync(layout.root, { recursive: true });
  chmodSync(layout.root, 0o711);
  for (const folder of [layout.run, layout.secrets, layout.logs]) makePrivateFolder(folder);
  mkdirSync(layout.tools, { recursive: true });
}
