// /etc/passwd and /etc/group of a sandbox: the image's own, and the sandbox user whom the image may not know (R21). Pure.
// Formats: passwd(5) and group(5).

export interface SandboxUserFiles {
  passwd: string;
  group: string;
  /** Name of the sandbox user: the image's, if it has that uid. */
  userName: string;
}

export interface SandboxUserIds {
  uid: number;
  gid: number;
  home: string;
}

const NEW_NAME = 'agent';

export function userFiles(image: { passwd: string; group: string }, user: SandboxUserIds): SandboxUserFiles {
  const entries = linesOf(image.passwd);
  const known = entries.find((line) => line.split(':')[2] === String(user.uid));
  const userName = known?.split(':')[0] ?? freeName(entries);
  const others = entries.filter((line) => line !== known);
  const own = [userName, 'x', user.uid, user.gid, 'Gantry sandbox', user.home, known?.split(':')[6] ?? '/bin/sh'];
  const groups = linesOf(image.group);
  const hasGroup = groups.some((line) => line.split(':')[2] === String(user.gid));
  if (!hasGroup) groups.push(`${freeName(groups)}:x:${user.gid}:`);
  return { passwd: fileOf([...others, own.join(':')]), group: fileOf(groups), userName };
}

function freeName(entries: readonly string[]): string {
  const taken = new Set(entries.map((line) => line.split(':')[0]));
  for (let number = 1; ; number++) {
    const name = number === 1 ? NEW_NAME : `${NEW_NAME}${number}`;
    if (!taken.has(name)) return name;
  }
}

const linesOf = (file: string): string[] => file.split('\n').filter((line) => line.includes(':'));
const fileOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
