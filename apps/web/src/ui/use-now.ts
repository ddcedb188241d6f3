// The time of day as a value that components show, renewed at an interval.
import { useEffect, useState } from 'react';

/** Milliseconds of Date.now, renewed every `everyMs` for as long as `running`. */
export function useNow(everyMs: number, running = true): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!running) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, running]);
  return now;
}
