// The mark that every descendant of a job carries: a pair of hard limits that Linux does not enforce, the resident set and the
// number of file locks. Every child inherits them, and only a process with CAP_SYS_RESOURCE can raise them again. So the mark stays
// on a process that forked twice, called setsid and cleared its environment (R13). Why not a subreaper: docs/adr/0003.
//
// What one limit gains from job to job the other loses. A process can only lower limits, so it can spoil its mark, but it can
// never turn it into that of another job.

/** Hard limits of a process: the resident set in bytes, file locks as a number. Null = unlimited. */
export interface MarkLimits {
  resident: number | null;
  locks: number | null;
}

/** POSIX shells count the resident set in units of 1,024 bytes. */
const UNIT_BYTES = 1024;
/** 4 PiB and up: no memory is ever that large, and the byte value is still exact in a double. */
const BASE = 2 ** 42;

/** As the process table shows them. */
export const markLimits = (mark: number): { resident: number; locks: number } => ({
  resident: (BASE + mark) * UNIT_BYTES,
  locks: 2 * BASE - mark,
});

/** The mark that these limits are; null for anything else, a spoilt one included. */
export function markOf({ resident, locks }: MarkLimits): number | null {
  if (resident === null || locks === null) return null;
  const mark = 2 * BASE - locks;
  return mark >= 0 && markLimits(mark).resident === resident ? mark : null;
}

/** Whether a process with these limits can descend from one with the mark: limits only ever get lower. */
export function canStemFrom({ resident, locks }: MarkLimits, mark: number): boolean {
  const first = markLimits(mark);
  return (resident ?? Infinity) <= first.resident && (locks ?? Infinity) <= first.locks;
}

export class LaunchMarks {
  private next = 0;

  take(): number {
    return this.next++;
  }
}

/** dash and BusyBox call the limit of file locks -w, bash calls it -x. */
const MARK_AND_BECOME = 'ulimit -m "$1" && { ulimit -w "$2" 2>/dev/null || ulimit -x "$2"; } && shift 2 && exec "$@"';

/** Runs `argv` with the mark: one shell that sets the limits and becomes the program. Its own words come after the script. */
export function markedCommand(mark: number, argv: readonly string[]): { file: string; args: string[] } {
  const { resident, locks } = markLimits(mark);
  return {
    file: '/bin/sh',
    args: ['-c', MARK_AND_BECOME, 'sh', String(resident / UNIT_BYTES), String(locks), ...argv],
  };
}
