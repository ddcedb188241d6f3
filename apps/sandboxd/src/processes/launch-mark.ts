// The mark that every descendant of a job carries: a hard limit of the resident set that is different for each job. Linux does
// not enforce that limit, every child inherits it, and only a process with CAP_SYS_RESOURCE can raise it again. So it stays on a
// process that forked twice, called setsid and cleared its environment (R13). Why not a subreaper: docs/adr/0003.

/** POSIX shells count this limit in units of 1,024 bytes. */
const UNIT_BYTES = 1024;
/** 4 PiB and up: no memory is ever that large, and the byte value is still exact in a double. */
const FIRST_MARK = 2 ** 42;

/** In bytes, as the process table shows it. */
export const markBytes = (mark: number): number => mark * UNIT_BYTES;

export class LaunchMarks {
  private next = FIRST_MARK;

  take(): number {
    return this.next++;
  }
}

/** Runs `argv` with the mark: one shell that sets the limit and becomes the program. Its own words come after the script. */
export function markedCommand(mark: number, argv: readonly string[]): { file: string; args: string[] } {
  return { file: '/bin/sh', args: ['-c', 'ulimit -m "$1" && shift && exec "$@"', 'sh', String(mark), ...argv] };
}
