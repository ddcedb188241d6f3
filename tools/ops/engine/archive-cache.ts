// Large archives in the cache folder, compressed with zstd: written beside their name and moved there when whole.
import { createReadStream, createWriteStream, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';

export const isCached = (path: string): boolean => existsSync(path);

/**
 * Compresses `content` into `path`. A reader never sees half of it; a failure leaves nothing behind. `whole` says that the content was
 * complete, where its end alone does not.
 */
export async function storeArchive(path: string, content: Readable, whole?: Promise<void>): Promise<void> {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.new`;
  try {
    await Promise.all([pipeline(content, createZstdCompress(), createWriteStream(draft)), whole]);
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** The content of an archive; the caller reads it to its end. Errors of the file show up as errors of the stream. */
export function openArchive(path: string): Readable {
  const content = createZstdDecompress();
  createReadStream(path)
    .once('error', (error) => content.destroy(error))
    .pipe(content);
  return content;
}
