// The ledger that commands themselves write inside their sandbox: what it says about loss, repetition, order and overlap. Pure.

/** One command that was acknowledged. `lane`: undefined for one that has a lane of its own, where nothing is before or after it. */
export interface Entry {
  id: string;
  lane: string | undefined;
}

export interface Verdict {
  /** Acknowledged, and not both begun and ended. */
  lost: string[];
  /** Begun or ended more than once, or never acknowledged. */
  twice: string[];
  /** Begun before one that was acknowledged earlier in the same lane. */
  outOfOrder: string[];
  /** Begun while another of its lane had not ended, or ended before it had begun. */
  overlapping: string[];
}

export const LEDGER_FILE = 'ledger';

/** The shell words around the work of a command. One `write` of less than PIPE_BUF to a file opened with O_APPEND is never torn (write(2)). */
export const ledgered = (id: string, work: string): string =>
  `echo "+${id}" >> ${LEDGER_FILE}; ${work}; echo "-${id}" >> ${LEDGER_FILE}`;

/** `text`: the file's content. `expected`: in the order of their acknowledgements. */
export function judgeLedger(text: string, expected: readonly Entry[]): Verdict {
  const lines = text.split('\n').filter((line) => line !== '');
  const laneOf = new Map(expected.map(({ id, lane }) => [id, lane]));
  const begun = countOf(lines, '+');
  const ended = countOf(lines, '-');
  const all = new Set([...begun.keys(), ...ended.keys()]);
  return {
    lost: expected.filter(({ id }) => !begun.has(id) || !ended.has(id)).map(({ id }) => id),
    twice: [...all].filter((id) => !laneOf.has(id) || (begun.get(id) ?? 0) > 1 || (ended.get(id) ?? 0) > 1),
    outOfOrder: outOfOrder(lines, expected),
    overlapping: overlapping(lines, laneOf),
  };
}

function countOf(lines: readonly string[], sign: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) {
    if (line.startsWith(sign)) counts.set(line.slice(1), (counts.get(line.slice(1)) ?? 0) + 1);
  }
  return counts;
}

function outOfOrder(lines: readonly string[], expected: readonly Entry[]): string[] {
  const place = new Map(expected.map(({ id }, index) => [id, index]));
  const laneOf = new Map(expected.map(({ id, lane }) => [id, lane]));
  const furthest = new Map<string, number>();
  const late: string[] = [];
  for (const id of lines.flatMap((line) => (line.startsWith('+') ? [line.slice(1)] : []))) {
    const lane = laneOf.get(id);
    const index = place.get(id);
    if (lane === undefined || index === undefined) continue;
    if (index < (furthest.get(lane) ?? -1)) late.push(id);
    furthest.set(lane, Math.max(index, furthest.get(lane) ?? -1));
  }
  return late;
}

function overlapping(lines: readonly string[], laneOf: ReadonlyMap<string, string | undefined>): string[] {
  const open = new Map<string, Set<string>>();
  const found: string[] = [];
  for (const line of lines) {
    const id = line.slice(1);
    const lane = laneOf.get(id);
    if (lane === undefined) continue;
    const running = open.get(lane) ?? new Set();
    open.set(lane, running);
    if (line.startsWith('+')) {
      if (running.size > 0) found.push(id);
      running.add(id);
    } else if (!running.delete(id)) found.push(id);
  }
  return found;
}
