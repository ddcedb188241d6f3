// Reads the one file of an archive that the engine sends for a path (ustar, as in tar(5); POSIX.1-1988).
const BLOCK = 512;

export type TarFile = { kind: 'file'; content: Buffer } | { kind: 'link'; target: string } | { kind: 'other' };

/** The first entry of the archive. */
export function firstTarFile(archive: Buffer): TarFile {
  if (archive.length < BLOCK) return { kind: 'other' };
  const text = (at: number, length: number): string =>
    archive.toString('latin1', at, at + length).replace(/\0.*$/s, '');
  const size = parseInt(text(124, 12).trim() || '0', 8);
  switch (text(156, 1)) {
    case '0':
    case '':
      return Number.isSafeInteger(size) && BLOCK + size <= archive.length
        ? { kind: 'file', content: archive.subarray(BLOCK, BLOCK + size) }
        : { kind: 'other' };
    case '2':
      return { kind: 'link', target: text(157, 100) };
    default:
      return { kind: 'other' };
  }
}
