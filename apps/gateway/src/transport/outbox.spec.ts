// What waits for a client is counted and bounded.
import { Outbox } from './outbox.js';
import { OutboxProbe } from './outbox-probe.js';

const bounds = { deltaBytes: 200, holdBytes: 1000, closeBytes: 3000 };
const delta = (text: string) => ({
  project_id: 'p',
  run_id: 'r',
  message_id: 'm',
  block_index: 0,
  block_type: 'text' as const,
  offset: 0,
  text,
});
const notice = (length: number) => ({ code: 'x', message: 'y'.repeat(length) });

it('GW-32 counts what the client has not taken, over flushes', () => {
  const probe = new OutboxProbe({ reading: false });
  const outbox = new Outbox(probe, bounds);
  outbox.push('server_notice', notice(100));
  const one = outbox.pendingBytes;
  outbox.push('server_notice', notice(100));
  expect(one).toBeGreaterThan(100);
  expect(outbox.pendingBytes).toBe(2 * one);
  probe.read();
  expect(outbox.pendingBytes).toBe(0);
});

it('GW-32 drops live text first, and keeps everything else', () => {
  const probe = new OutboxProbe({ reading: false });
  const outbox = new Outbox(probe, bounds);
  expect(outbox.pushDelta(delta('a'))).toBe(true);
  outbox.push('server_notice', notice(300));
  expect(outbox.pushDelta(delta('b'))).toBe(false);
  expect(outbox.congested).toBe(false);
  outbox.push('server_notice', notice(800));
  expect(outbox.congested).toBe(true);
  expect(probe.sent.map(({ event }) => event)).toEqual(['delta', 'server_notice', 'server_notice']);
  probe.read();
  expect(outbox.congested).toBe(false);
  expect(outbox.pushDelta(delta('c'))).toBe(true);
});

it('GW-32 says when the client has read', () => {
  const probe = new OutboxProbe({ reading: false });
  const outbox = new Outbox(probe, bounds);
  let drained = 0;
  const stop = outbox.onDrain(() => {
    drained += 1;
  });
  outbox.push('server_notice', notice(1));
  probe.read();
  expect(drained).toBe(1);
  stop();
  outbox.push('server_notice', notice(1));
  probe.read();
  expect(drained).toBe(1);
});

it('GW-33 closes above the last bound, once, and sends nothing more', () => {
  const probe = new OutboxProbe({ reading: false });
  const outbox = new Outbox(probe, bounds);
  for (let count = 0; count < 5; count += 1) outbox.push('server_notice', notice(1000));
  expect(probe.closed).toBe(true);
  expect(probe.sent.length).toBeLessThan(5);
});
