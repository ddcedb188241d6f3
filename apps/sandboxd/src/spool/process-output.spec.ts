// From pipes to the spool: what holds output back, and when it is complete.
import { PassThrough } from 'node:stream';
import { ProcessOutput } from './process-output.js';

/** A spool in memory whose disk can be full. */
class MemorySpool {
  written = '';
  sealed = false;
  diskFull = false;
  capBytes = 1000;

  get isFull(): boolean {
    return this.written.length >= this.capBytes;
  }

  append(channel: string, data: Uint8Array): void {
    if (this.diskFull) throw Object.assign(new Error('No space left on device'), { code: 'ENOSPC' });
    this.written += `${channel === 'stderr' ? '!' : ''}${Buffer.from(data).toString()}`;
  }

  seal(): void {
    this.sealed = true;
  }
}

function setUp() {
  const spool = new MemorySpool();
  const events = { grown: jest.fn(), complete: jest.fn(), diskError: jest.fn() };
  const output = new ProcessOutput(spool, events);
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  output.read('stdout', stdout);
  output.read('stderr', stderr);
  return { spool, events, output, stdout, stderr };
}

/** Lets the streams deliver what was written. */
const delivered = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
};

beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
afterEach(() => jest.useRealTimers());

describe('the output of a process', () => {
  it('SBX-13 is complete at the end of both pipes, once the process has ended', async () => {
    const { spool, events, output, stdout, stderr } = setUp();
    stdout.end('a');
    stderr.end('b');
    await delivered();
    expect(events.complete).not.toHaveBeenCalled();
    output.processExited();
    expect(events.complete).toHaveBeenCalledTimes(1);
    expect([spool.written, spool.sealed]).toEqual(['a!b', true]);
  });

  it('SBX-13 waits for pipes that are still open, until they are silent for a while', async () => {
    const { spool, events, output, stdout } = setUp();
    output.processExited();
    jest.advanceTimersByTime(200);
    stdout.write('late');
    await delivered();
    jest.advanceTimersByTime(200);
    expect(events.complete).not.toHaveBeenCalled();
    jest.advanceTimersByTime(100);
    expect(events.complete).toHaveBeenCalledTimes(1);
    stdout.write('too late');
    await delivered();
    expect(spool.written).toBe('late');
  });

  it('SBX-13 is complete in the end although something goes on writing', async () => {
    const { events, output, stdout } = setUp();
    output.processExited();
    for (let ms = 0; ms < 1900; ms += 100) {
      jest.advanceTimersByTime(100);
      stdout.write('.');
      await delivered();
    }
    expect(events.complete).not.toHaveBeenCalled();
    jest.advanceTimersByTime(200);
    expect(events.complete).toHaveBeenCalledTimes(1);
  });

  it('SBX-11 is not read while the spool is full, and silence then means nothing', async () => {
    const { spool, events, output, stdout, stderr } = setUp();
    stdout.write('x'.repeat(1000));
    await delivered();
    stdout.write('more');
    stderr.write('errors');
    output.processExited();
    await delivered();
    jest.advanceTimersByTime(60_000);
    expect(spool.written).toHaveLength(1000);
    expect(events.complete).not.toHaveBeenCalled();
    spool.capBytes = 2000;
    output.acknowledged();
    await delivered();
    expect(spool.written.slice(1000)).toContain('more');
    expect(spool.written.slice(1000)).toContain('!errors');
    jest.advanceTimersByTime(300);
    expect(events.complete).toHaveBeenCalledTimes(1);
  });

  it('SBX-11 that the disk refuses is tried again, in order, and nothing is read meanwhile', async () => {
    const { spool, events, output, stdout } = setUp();
    spool.diskFull = true;
    stdout.write('one ');
    await delivered();
    stdout.write('two ');
    await delivered();
    expect(events.diskError).toHaveBeenCalledWith(expect.objectContaining({ code: 'ENOSPC' }));
    jest.advanceTimersByTime(10_000);
    spool.diskFull = false;
    jest.advanceTimersByTime(250);
    await delivered();
    expect(spool.written).toBe('one two ');
    spool.diskFull = true;
    stdout.end('three');
    await delivered();
    output.processExited();
    expect(events.complete).not.toHaveBeenCalled();
    spool.diskFull = false;
    output.acknowledged();
    await delivered();
    expect(spool.written).toBe('one two three');
  });
});
