// How many refusals of one connection reach the log.
import { RefusalLog } from './refusal-log.js';

it('GW-53 lets so many refusals a minute through and tells once how many it left out', () => {
  let now = 0;
  const told: number[] = [];
  const log = new RefusalLog({ perMinute: 2, nowMs: () => now, tell: (suppressed) => told.push(suppressed) });
  const take = (times: number) => Array.from({ length: times }, () => log.take());
  expect(take(5)).toEqual([true, true, false, false, false]);
  now = 59_999;
  expect(take(1)).toEqual([false]);
  expect(told).toEqual([]);
  now = 60_000;
  expect(take(3)).toEqual([true, true, false]);
  expect(told).toEqual([4]);
  log.end();
  log.end();
  expect(told).toEqual([4, 1]);
});

it('GW-53 says nothing of a connection that was logged whole', () => {
  const told: number[] = [];
  const log = new RefusalLog({ perMinute: 2, nowMs: () => 0, tell: (suppressed) => told.push(suppressed) });
  log.take();
  log.end();
  expect(told).toEqual([]);
});
