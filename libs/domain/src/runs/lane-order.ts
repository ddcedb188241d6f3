// Places in the queue of a lane: numbers with gaps, so that a run is moved by changing its own.

/** Between two runs that are queued one after the other. */
export const POSITION_GAP = 1024;

/**
 * A position between two neighbours; without one of them, before the first or behind the last. Undefined when there is no room left:
 * then the lane is numbered anew.
 */
export function positionBetween(before: number | undefined, after: number | undefined): number | undefined {
  if (after === undefined) return before === undefined ? 0 : before + POSITION_GAP;
  if (before === undefined) return after - POSITION_GAP;
  const middle = Math.floor((before + after) / 2);
  return middle > before && middle < after ? middle : undefined;
}
