// What an image must bring besides a C library that runs Node (R22): a shell that can mark a job, and mkfifo.
import { spawnSync } from 'node:child_process';
import { LaunchMarks, markLimits, markedCommand } from './processes/launch-mark.js';
import type { JobUser } from './processes/job-user.js';
import type { PipeStock } from './processes/pipe-stock.js';

/** Prints the limits of the process that a marked command becomes. The shell alone does it: nothing else is sure to be there. */
const PRINT_LIMITS = 'while read -r line; do echo "$line"; done < /proc/self/limits';

/** Names what is missing, in words for people; empty when the image will do. */
export function missingFromImage(user: JobUser, pipes: PipeStock): string[] {
  return [...missingShell(user), ...missingMkfifo(pipes)];
}

function missingShell({ uid, gid }: JobUser): string[] {
  const mark = new LaunchMarks().take();
  const { file, args } = markedCommand(mark, ['/bin/sh', '-c', PRINT_LIMITS]);
  const { error, stdout } = spawnSync(file, args, { uid, gid, cwd: '/', env: {}, encoding: 'latin1' });
  if (error) return ['a shell at /bin/sh'];
  const { resident, locks } = markLimits(mark);
  const isMarked = stdout.includes(` ${resident} `) && stdout.includes(` ${locks} `);
  return isMarked ? [] : ['a /bin/sh whose `ulimit` sets the limits of resident set (-m) and file locks (-w or -x)'];
}

function missingMkfifo(pipes: PipeStock): string[] {
  try {
    pipes.fill();
    return [];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ['mkfifo (coreutils)'];
    throw error;
  }
}
