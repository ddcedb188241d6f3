// A deadline on something that may never come to its end, such as a database that is away at shutdown.
import { pause } from './pause.js';

/** Whether it settled in time. What it rejects with goes to `failed`, in time or not. */
export async function within(ms: number, work: Promise<unknown>, failed: (error: unknown) => void): Promise<boolean> {
  const late = new AbortController();
  let settled = false;
  const watched = work.then(
    () => {
      settled = true;
    },
    (error: unknown) => {
      settled = true;
      failed(error);
    },
  );
  await Promise.race([watched, pause(ms, late.signal)]);
  late.abort();
  return settled;
}
