// The spool against a plain list of bytes as model: whatever is appended, read, acknowledged and recovered, in any order.
import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type { StreamChannel } from '#kernel';
import { Spool } from './spool.js';
import { SpoolReader } from './spool-reader.js';

const limits = { capBytes: 1000, segmentBytes: 64 };
const folders: string[] = [];
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-spool-'));
  folders.push(folder);
  return folder;
};
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

type Byte = [channel: StreamChannel, value: number];

/** Everything from `offset` to the head, byte by byte with its channel; also checks that offsets are contiguous. */
function readAll(spool: Spool, offset: number, limit: number): Byte[] {
  const reader = new SpoolReader(spool, offset);
  const bytes: Byte[] = [];
  for (let piece = reader.next(limit); piece !== null; piece = reader.next(limit)) {
    expect(piece.offset).toBe(offset + bytes.length);
    expect(piece.data.length).toBeLessThanOrEqual(limit);
    for (const value of piece.data) bytes.push([piece.channel, value]);
  }
  return bytes;
}

const channel = fc.constantFrom<StreamChannel>('stdout', 'stderr');
const writes = fc.array(fc.tuple(channel, fc.uint8Array({ maxLength: 150 })), { maxLength: 30 });

describe('Spool', () => {
  it('SBX-9 gives back every byte with its channel and order, from any offset, in pieces of any size', () => {
    fc.assert(
      fc.property(
        writes,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 1, max: 200 }),
        (list, from, limit) => {
          const spool = Spool.create(newFolder(), limits);
          const model: Byte[] = [];
          for (const [on, data] of list) {
            spool.append(on, data);
            for (const value of data) model.push([on, value]);
          }
          expect(spool.head).toBe(model.length);
          const offset = Math.floor(from * model.length);
          expect(readAll(spool, offset, limit)).toEqual(model.slice(offset));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('SBX-10 deletes only what lies below the acknowledged offset, and what is left is exact, also after a recovery', () => {
    fc.assert(
      fc.property(writes, fc.array(fc.double({ min: 0, max: 1, noNaN: true })), (list, acknowledgements) => {
        const folder = newFolder();
        const spool = Spool.create(folder, limits);
        const model: Byte[] = [];
        let acknowledged = 0;
        list.forEach(([on, data], index) => {
          spool.append(on, data);
          for (const value of data) model.push([on, value]);
          const offset = Math.floor((acknowledgements[index] ?? 0) * model.length);
          spool.acknowledge(offset);
          acknowledged = Math.max(acknowledged, offset);
        });
        expect(spool.tail).toBeLessThanOrEqual(acknowledged);
        for (const kept of [spool, Spool.recover(folder, limits)]) {
          expect([kept.tail, kept.head]).toEqual([spool.tail, model.length]);
          expect(readAll(kept, kept.tail, 100)).toEqual(model.slice(kept.tail));
        }
      }),
      { numRuns: 60 },
    );
  });

  it('SBX-9 a reader follows the head while it is written', () => {
    const spool = Spool.create(newFolder(), limits);
    const reader = new SpoolReader(spool, 0);
    expect(reader.next(10)).toBeNull();
    const seen: string[] = [];
    for (const word of ['a', 'bc', 'x'.repeat(70), 'd']) {
      spool.append('stdout', Buffer.from(word));
      for (let piece = reader.next(100); piece; piece = reader.next(100)) seen.push(piece.data.toString());
    }
    expect(seen.join('')).toBe(`abc${'x'.repeat(70)}d`);
  });

  it('SBX-10 gives disk space back, and refuses offsets that are gone or not there yet', () => {
    const folder = newFolder();
    const spool = Spool.create(folder, limits);
    const reader = new SpoolReader(spool, 0);
    for (let index = 0; index < 50; index++) spool.append('stdout', Buffer.alloc(50, index));
    spool.acknowledge(2400);
    expect(spool.tail).toBe(2400);
    const onDisk = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    expect(onDisk).toBeLessThan(200);
    expect(() => reader.next(1)).toThrow(expect.objectContaining({ code: 'stream.offset_invalid' }) as Error);
    for (const offset of [2399, 2501]) {
      expect(() => new SpoolReader(spool, offset)).toThrow(
        expect.objectContaining({ code: 'stream.offset_invalid' }) as Error,
      );
    }
    expect(() => spool.acknowledge(2501)).toThrow(expect.objectContaining({ code: 'stream.offset_invalid' }) as Error);
  });

  it('SBX-11 is full at its cap of unacknowledged bytes, and not after an acknowledgement', () => {
    const spool = Spool.create(newFolder(), limits);
    spool.append('stdout', Buffer.alloc(999));
    expect(spool.isFull).toBe(false);
    spool.append('stderr', Buffer.alloc(1));
    expect(spool.isFull).toBe(true);
    spool.acknowledge(1);
    expect(spool.isFull).toBe(false);
  });

  it('SBX-12 leaves out a record that a crash cut short', () => {
    const folder = newFolder();
    const spool = Spool.create(folder, limits);
    spool.append('stdout', Buffer.from('whole'));
    spool.seal();
    const [name] = readdirSync(folder);
    appendFileSync(join(folder, name!), Buffer.from([0, 0, 0, 0, 9, 1, 2]));
    expect(Spool.recover(folder, limits).head).toBe(5);
    expect(readAll(Spool.recover(folder, limits), 0, 10)).toHaveLength(5);
  });
});
