// A pid and its start time.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { identify, isAlive, parseStat, signalProcess } from './process-identity.ts';

describe('the identity of a process', () => {
  it('OPS-7 is this process, not another one with the same pid', async () => {
    const child = spawn('sleep', ['600'], { stdio: 'ignore' });
    await once(child, 'spawn');
    const identity = identify(child.pid ?? 0);
    if (!identity) throw new Error('no identity');
    const earlier = { ...identity, startTicks: identity.startTicks - 1 };
    const otherBoot = { ...identity, bootId: 'another boot' };
    expect([identity, earlier, otherBoot].map(isAlive)).toEqual([true, false, false]);
    expect(signalProcess(earlier, 'SIGKILL')).toBe(false);
    expect(signalProcess(otherBoot, 'SIGKILL')).toBe(false);
    expect(child.exitCode).toBeNull();
    const ended = once(child, 'exit');
    expect(signalProcess(identity, 'SIGTERM')).toBe(true);
    await ended;
    expect(isAlive(identity)).toBe(false);
    expect(signalProcess(identity, 'SIGTERM')).toBe(false);
  });

  it('OPS-7 reads the start time behind a command name with brackets and spaces', () => {
    const rest = ['S', ...Array.from({ length: 18 }, (_, index) => String(index + 4)), '4711', '99'].join(' ');
    expect(parseStat(`12 (a) b (c) S) ${rest}`)).toEqual({ state: 'S', startTicks: 4711 });
  });

  it('there is none for a pid that nobody has', () => {
    expect(identify(2 ** 22 + 1)).toBeUndefined();
  });
});
