// Credit, order and the end of a stream.
import fc from 'fast-check';
import type { OutputChunkRecord, OutputHead } from '#domain';
import { Outbox } from '../transport/outbox.js';
import { OutboxProbe } from '../transport/outbox-probe.js';
import { StreamSubscription } from './stream-subscription.js';

const RUN = '0190f3a4-0000-7000-8000-000000000009';

/** Output as it is stored: bytes 0, 1, 2, … in chunks of seven, alternating between the channels. */
class Output {
  head: OutputHead = {
    runId: RUN,
    projectId: 'p',
    headOffset: 0,
    cut: null,
    expiredAt: null,
    ended: false,
    exitCode: null,
    reason: 'running',
  };
  gone = false;
  /** Bytes from `from` up to `to` are not kept. */
  hole = { from: 0, to: 0 };
  listener: () => void = () => undefined;

  write(bytes: number): void {
    this.head = { ...this.head, headOffset: this.head.headOffset + bytes };
    this.listener();
  }

  end(exitCode: number): void {
    this.head = { ...this.head, ended: true, exitCode, reason: 'succeeded' };
    this.listener();
  }

  private stored(offset: number): number {
    return offset >= this.hole.from && offset < this.hole.to ? this.hole.to : offset;
  }

  readonly store = {
    nextStored: async (_runId: string, from: number) => {
      const stored = this.stored(from);
      return stored < this.head.headOffset ? stored : undefined;
    },
    head: async () => (this.gone ? undefined : this.head),
    read: async (_runId: string, from: number, maxBytes: number): Promise<OutputChunkRecord[]> => {
      const to = Math.min(this.head.headOffset, from + maxBytes);
      const chunks: OutputChunkRecord[] = [];
      for (let offset = this.stored(from); offset < to; offset = this.stored(offset)) {
        const hole = offset < this.hole.from ? this.hole.from : Infinity;
        const end = Math.min(to, hole, (Math.floor(offset / 7) + 1) * 7);
        const data = Uint8Array.from({ length: end - offset }, (_, index) => (offset + index) % 256);
        chunks.push({ offset, channel: Math.floor(offset / 7) % 2 === 0 ? 'stdout' : 'stderr', data });
        offset = end;
      }
      return chunks;
    },
  };
}

interface Sent {
  offset: number;
  data: Uint8Array;
}

function subscribe(
  output: Output,
  { fromOffset = 0, windowBytes = 100, maxPieceBytes = 1000, reading = true, holdBytes = 1_000_000 } = {},
) {
  const probe = new OutboxProbe({ reading });
  const outbox = new Outbox(probe, { deltaBytes: holdBytes, holdBytes, closeBytes: 10_000_000 });
  let released = 0;
  const subscription = new StreamSubscription({
    streamId: RUN,
    fromOffset,
    windowBytes,
    maxPieceBytes,
    outputs: output.store,
    outbox,
    onOutput: (listener) => {
      output.listener = listener;
      return () => {
        output.listener = () => undefined;
      };
    },
    released: () => (released += 1),
    report: (error) => {
      throw error;
    },
  });
  const data = () => probe.payloads('stream_data') as Sent[];
  const gaps = () => probe.payloads('stream_gap') as { from_offset: number; to_offset: number }[];
  const end = () =>
    Math.max(
      fromOffset,
      ...data().map(({ offset, data: bytes }) => offset + bytes.byteLength),
      ...gaps().map(({ to_offset: to }) => to),
    );
  return { probe, subscription, data, gaps, end, ends: () => probe.payloads('stream_end'), released: () => released };
}

/** Lets every promise that is ready go on. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

it('GW-35 sends nothing before it was acknowledged', async () => {
  const output = new Output();
  const { probe, subscription } = subscribe(output);
  output.write(50);
  await settle();
  expect(probe.sent).toEqual([]);
  subscription.start();
  await settle();
  expect(probe.sent).not.toEqual([]);
});

it('GW-34 stops at the window and goes on with the acknowledgement', async () => {
  const output = new Output();
  const { subscription, end } = subscribe(output);
  output.write(250);
  subscription.start();
  await settle();
  expect(end()).toBe(100);
  subscription.acknowledge(60);
  await settle();
  expect(end()).toBe(160);
  subscription.acknowledge(10);
  await settle();
  expect(end()).toBe(160);
});

it('GW-34 refuses an acknowledgement of bytes that were not sent', async () => {
  const output = new Output();
  const { subscription } = subscribe(output);
  output.write(20);
  subscription.start();
  await settle();
  expect(() => subscription.acknowledge(21)).toThrow(
    expect.objectContaining({ code: 'stream.offset_invalid' }) as Error,
  );
});

it('GW-35 ends once, after every byte, with exit code and reason', async () => {
  const output = new Output();
  const { subscription, end, ends, released } = subscribe(output);
  output.write(150);
  subscription.start();
  output.end(3);
  await settle();
  expect([end(), ends()]).toEqual([100, []]);
  subscription.acknowledge(100);
  await settle();
  output.listener();
  await settle();
  expect(end()).toBe(150);
  expect(ends()).toEqual([{ stream_id: RUN, end_offset: 150, exit_code: 3, reason: 'succeeded' }]);
  expect(released()).toBe(1);
});

it('GW-35 ends a stream that had ended before it was asked for, also from its very end', async () => {
  const output = new Output();
  output.write(10);
  output.end(0);
  const { subscription, ends } = subscribe(output, { fromOffset: 10 });
  subscription.start();
  await settle();
  expect(ends()).toHaveLength(1);
});

it('GW-35 ends when the run is not stored any more', async () => {
  const output = new Output();
  const { subscription, ends } = subscribe(output);
  subscription.start();
  output.gone = true;
  output.listener();
  await settle();
  expect(ends()).toEqual([{ stream_id: RUN, end_offset: 0, reason: 'deleted' }]);
});

it('RET-2 says which bytes are not kept, and takes no credit for them', async () => {
  const output = new Output();
  output.hole = { from: 50, to: 5000 };
  output.write(5090);
  const { subscription, data, gaps, end } = subscribe(output);
  subscription.start();
  await settle();
  expect(gaps()).toEqual([{ stream_id: RUN, from_offset: 50, to_offset: 5000, reason: 'cut' }]);
  expect(data().map(({ offset }) => offset)).toContain(5000);
  expect(end()).toBe(5050);
  // A client that counts only what it was sent acknowledges the end of the first part.
  subscription.acknowledge(50);
  await settle();
  expect(end()).toBe(5090);
});

it('RET-2 passes over an expired output to its end', async () => {
  const output = new Output();
  output.write(90);
  output.end(0);
  output.hole = { from: 0, to: 90 };
  output.head = { ...output.head, expiredAt: new Date(0) };
  const { subscription, data, gaps, ends } = subscribe(output);
  subscription.start();
  await settle();
  expect(data()).toEqual([]);
  expect(gaps()).toEqual([{ stream_id: RUN, from_offset: 0, to_offset: 90, reason: 'expired' }]);
  expect(ends()).toEqual([expect.objectContaining({ end_offset: 90 })]);
});

it('RET-2 gives every stored byte once and every hole once, whatever the hole and the acknowledgements', async () => {
  const part = fc.integer({ min: 0, max: 300 });
  await fc.assert(
    fc.asyncProperty(part, part, part, fc.integer({ min: 1, max: 40 }), async (before, hole, after, windowBytes) => {
      const output = new Output();
      output.hole = { from: before, to: before + hole };
      output.write(before + hole + after);
      output.end(0);
      const { subscription, data, gaps, end, ends } = subscribe(output, { windowBytes, maxPieceBytes: 5 });
      subscription.start();
      for (await settle(); ends().length === 0; await settle()) subscription.acknowledge(end());
      expect(data().flatMap(({ offset, data: bytes }) => [...bytes].map((_, index) => offset + index))).toEqual(
        Array.from({ length: before + hole + after }, (_, offset) => offset).filter(
          (offset) => offset < before || offset >= before + hole,
        ),
      );
      expect(gaps().map(({ from_offset, to_offset }) => [from_offset, to_offset])).toEqual(
        hole === 0 ? [] : [[before, before + hole]],
      );
    }),
    { numRuns: 100 },
  );
});

it('GW-30 splits binary data to the size that the client takes', async () => {
  const output = new Output();
  output.write(30);
  const { subscription, data, end } = subscribe(output, { maxPieceBytes: 3 });
  subscription.start();
  await settle();
  expect(Math.max(...data().map((push) => push.data.byteLength))).toBe(3);
  expect(end()).toBe(30);
});

it('GW-32 waits for a client that does not read, and goes on when it has', async () => {
  const output = new Output();
  const { probe, subscription, end } = subscribe(output, { reading: false, holdBytes: 50, windowBytes: 100_000 });
  output.write(200_000);
  subscription.start();
  await settle();
  const before = end();
  expect(before).toBeLessThan(200_000);
  probe.read();
  await settle();
  expect(end()).toBeGreaterThan(before);
});

it('GW-35 stops at once when the client leaves', async () => {
  const output = new Output();
  const { probe, subscription, released } = subscribe(output);
  subscription.start();
  subscription.close();
  subscription.close();
  output.write(10);
  await settle();
  expect([probe.sent, released()]).toEqual([[], 1]);
});

it('GW-34, GW-35 gives every byte once, in order, within the credit, whatever the sequence of writes and acknowledgements', async () => {
  const action = fc.oneof(
    fc.record({ kind: fc.constant('write' as const), bytes: fc.integer({ min: 1, max: 60 }) }),
    fc.record({ kind: fc.constant('ack' as const), bytes: fc.integer({ min: 0, max: 60 }) }),
    fc.record({ kind: fc.constant('settle' as const), bytes: fc.constant(0) }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { maxLength: 30 }),
      fc.integer({ min: 1, max: 40 }),
      async (actions, windowBytes) => {
        const output = new Output();
        const { subscription, data, end, ends } = subscribe(output, { windowBytes, maxPieceBytes: 5 });
        subscription.start();
        let acked = 0;
        for (const { kind, bytes } of actions) {
          if (kind === 'write') output.write(bytes);
          if (kind === 'ack') subscription.acknowledge((acked = Math.min(end(), acked + bytes)));
          if (kind === 'settle') await settle();
          expect(end()).toBeLessThanOrEqual(acked + windowBytes);
        }
        output.end(0);
        for (await settle(); ends().length === 0; await settle()) subscription.acknowledge(end());
        const bytes = data().flatMap((push) => [...push.data]);
        expect(bytes).toEqual(Array.from({ length: output.head.headOffset }, (_, index) => index % 256));
        expect(ends()).toHaveLength(1);
      },
    ),
    { numRuns: 100 },
  );
});
