// The file of a backup: frames in a gzip stream, closed by a trailer with the checksum of all before it. Written aside and renamed, so that
// a file under its final name is whole. Frame: one byte of kind, four bytes of length (big endian), then as many bytes.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, openSync, fsyncSync, closeSync, renameSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { StepError } from '../step.ts';

/** Raised when readers of the earlier form would go wrong. */
export const FORMAT = 1;

export interface BackupHeader {
  format: number;
  created_at: string;
  /** Version of Gantry that wrote it. */
  version: string;
  instance_id: string;
  /** Applied migrations, in order. */
  migrations: { name: string; checksum: string }[];
}

/** `part`: bytes follow as data, until `end`. */
export type Note =
  | ({ kind: 'header' } & BackupHeader)
  | { kind: 'table'; name: string; columns: string[] }
  | { kind: 'home'; volume: string; labels: Record<string, string> }
  | { kind: 'file'; path: string }
  | { kind: 'end'; rows?: number }
  | { kind: 'trailer'; sha256: string };

export type Frame = { note: Note } | { data: Buffer };

const NOTE = 0x4e;
const DATA = 0x44;
const HEAD_BYTES = 5;
/** Far more than any frame that is written. */
const MAX_FRAME_BYTES = 64 * 1024 * 1024;

export interface BackupWriter {
  note(note: Note): Promise<void>;
  data(bytes: Buffer): Promise<void>;
  /** Writes the trailer; the file has its name when this resolves. */
  close(): Promise<void>;
  /** Leaves nothing behind. */
  abandon(): void;
}

/** Only its owner may read it: it holds what people wrote, and secrets. */
export function createBackupWriter(path: string): BackupWriter {
  const partial = `${path}.partial`;
  const file = createWriteStream(partial, { mode: 0o600 });
  const gzip = createGzip({ level: 6 });
  const written = finished(gzip.pipe(file));
  written.catch(() => undefined); // thrown by `frame` and `close`
  const hash = createHash('sha256');
  const frame = async (kind: number, bytes: Buffer): Promise<void> => {
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt8(kind, 0);
    head.writeUInt32BE(bytes.length, 1);
    hash.update(head).update(bytes);
    gzip.write(head);
    if (!gzip.write(bytes)) await Promise.race([once(gzip, 'drain'), written]);
  };
  const note = (of: Note): Promise<void> => frame(NOTE, Buffer.from(JSON.stringify(of)));
  return {
    note,
    data: (bytes) => frame(DATA, bytes),
    close: async () => {
      await note({ kind: 'trailer', sha256: hash.copy().digest('hex') });
      gzip.end();
      await written;
      const descriptor = openSync(partial, 'r+');
      fsyncSync(descriptor);
      closeSync(descriptor);
      renameSync(partial, path);
    },
    abandon: () => {
      gzip.destroy();
      file.destroy();
      rmSync(partial, { force: true });
    },
  };
}

/** The frames without the trailer. Throws a StepError at the latest at the end, when the file is cut off or was changed. */
export async function* readBackup(path: string): AsyncGenerator<Frame> {
  const hash = createHash('sha256');
  try {
    for await (const { kind, bytes, head } of framesOf(path)) {
      const note = kind === NOTE ? (JSON.parse(bytes.toString('utf8')) as Note) : undefined;
      if (note?.kind === 'trailer') {
        if (note.sha256 !== hash.digest('hex')) throw new Error('its checksum does not match');
        return;
      }
      hash.update(head).update(bytes);
      yield note === undefined ? { data: bytes } : { note };
    }
    throw new Error('it is cut off');
  } catch (error) {
    if (error instanceof StepError) throw error;
    throw damaged(path, error);
  }
}

/** Reads all of it. Throws a StepError for a file that is damaged, no backup, or of a form that this version does not know. */
export async function checkBackup(path: string): Promise<BackupHeader> {
  let header: BackupHeader | undefined;
  for await (const frame of readBackup(path)) {
    if (header !== undefined) continue;
    if (!('note' in frame) || frame.note.kind !== 'header') throw damaged(path, new Error('it is no backup of Gantry'));
    header = frame.note;
    if (header.format !== FORMAT) {
      throw new StepError(
        `${path} has form ${header.format}; this version reads form ${FORMAT}.`,
        `Restore it with the version that wrote it (${header.version}), then update.`,
      );
    }
  }
  if (header === undefined) throw damaged(path, new Error('it is empty'));
  return header;
}

const damaged = (path: string, error: unknown): StepError =>
  new StepError(
    `${path} cannot be used: ${error instanceof Error ? error.message : String(error)}.`,
    'Take another backup. Nothing was changed.',
    error,
  );

async function* framesOf(path: string): AsyncGenerator<{ kind: number; head: Buffer; bytes: Buffer }> {
  const file = createReadStream(path);
  const gunzip = createGunzip();
  file.once('error', (error) => gunzip.destroy(error));
  let waiting: Buffer[] = [];
  let size = 0;
  for await (const chunk of file.pipe(gunzip)) {
    waiting.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    for (let needed = frameBytes(waiting, size); size >= needed; needed = frameBytes(waiting, size)) {
      const all = waiting.length === 1 ? (waiting[0] as Buffer) : Buffer.concat(waiting);
      yield { kind: all.readUInt8(0), head: all.subarray(0, HEAD_BYTES), bytes: all.subarray(HEAD_BYTES, needed) };
      waiting = [all.subarray(needed)];
      size -= needed;
    }
  }
  if (size > 0) throw new Error('it is cut off');
}

/** How many bytes the first frame has, as far as is known. */
function frameBytes(waiting: Buffer[], size: number): number {
  if (size < HEAD_BYTES) return HEAD_BYTES;
  const head = (waiting[0]?.length ?? 0) >= HEAD_BYTES ? (waiting[0] as Buffer) : Buffer.concat(waiting);
  const length = head.readUInt32BE(1);
  if (length > MAX_FRAME_BYTES) throw new Error('it is no backup of Gantry');
  return HEAD_BYTES + length;
}
