// Whom a service runs as: Postgres refuses root, so root starts it as a user without rights of its own.
import { readFileSync } from 'node:fs';
import { runCommand } from './run-command.ts';

export interface SystemUser {
  name: string;
  uid: number;
  gid: number;
}

export function findUser(name: string, passwd = readFileSync('/etc/passwd', 'utf8')): SystemUser | undefined {
  const entry = passwd
    .split('\n')
    .map((line) => line.split(':'))
    .find(([candidate]) => candidate === name);
  return entry && { name, uid: Number(entry[2]), gid: Number(entry[3]) };
}

const OWN_USER = 'gantry-postgres';

/** The user that Postgres can run as when we are root: one that exists already, or undefined if one must be made. */
export const existingPostgresUser = (): SystemUser | undefined => findUser('postgres') ?? findUser(OWN_USER);

export async function makePostgresUser(): Promise<SystemUser> {
  await runCommand('useradd', [
    '--system',
    '--user-group',
    '--no-create-home',
    '--shell',
    '/usr/sbin/nologin',
    OWN_USER,
  ]);
  const user = findUser(OWN_USER);
  if (!user) throw new Error(`useradd made no user ${OWN_USER}`);
  return user;
}
