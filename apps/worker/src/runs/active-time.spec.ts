import { systemClock } from '#kernel';
import { RunActiveTime } from './active-time.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

describe('RunActiveTime', () => {
  it('ENG-22 counts work only, and goes on from what an earlier worker counted', () => {
    const time = new RunActiveTime(systemClock, 1_000);
    jest.advanceTimersByTime(5_000);
    expect(time.elapsedMs()).toBe(1_000);
    time.resume();
    jest.advanceTimersByTime(300);
    time.resume();
    time.suspend();
    time.suspend();
    expect(time.suspended).toBe(true);
    jest.advanceTimersByTime(60_000);
    time.resume();
    jest.advanceTimersByTime(200);
    expect(time.elapsedMs()).toBe(1_500);
  });

  it('ENG-22 reaches a limit once, when that much work is done', () => {
    const time = new RunActiveTime(systemClock, 400);
    const reached = jest.fn();
    time.onLimit(1_000, reached);
    time.resume();
    jest.advanceTimersByTime(500);
    time.suspend();
    jest.advanceTimersByTime(10_000);
    expect(reached).not.toHaveBeenCalled();
    time.resume();
    jest.advanceTimersByTime(99);
    expect(reached).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1);
    expect(reached).toHaveBeenCalledTimes(1);
    jest.advanceTimersByTime(10_000);
    expect(reached).toHaveBeenCalledTimes(1);
  });

  it('ENG-22 reaches a limit that has passed already as soon as work goes on', () => {
    const time = new RunActiveTime(systemClock, 5_000);
    const reached = jest.fn();
    time.onLimit(1_000, reached);
    time.resume();
    jest.advanceTimersByTime(0);
    expect(reached).toHaveBeenCalledTimes(1);
  });

  it('ENG-22 reaches no limit after it was closed', () => {
    const time = new RunActiveTime(systemClock, 0);
    const reached = jest.fn();
    time.onLimit(100, reached);
    time.resume();
    time.close();
    time.resume();
    jest.advanceTimersByTime(1_000);
    expect(reached).not.toHaveBeenCalled();
  });

  it('ENG-22 counts limits beyond what one timer can', () => {
    const days = 30 * 24 * 3_600_000;
    const time = new RunActiveTime(systemClock, 0);
    const reached = jest.fn();
    time.onLimit(days, reached);
    time.resume();
    jest.advanceTimersByTime(days - 1);
    expect(reached).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1);
    expect(reached).toHaveBeenCalledTimes(1);
  });
});
