// `logs`: the end of every service's log, then what is written from now on, each line with its service's name.
import { closeSync, existsSync, fstatSync, openSync, readSync, readdirSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import { StepError } from '../step.ts';

const TAIL_BYTES = 64 * 1024;

/** Reads a growing file: each call gives the whole lines that were added. Starts anew when the file was cut (rotation). */
export class GrowingFile {
  readonly #path: string;
  #offset = 0;
  #rest: Buffer = Buffer.alloc(0);

  constructor(path: string) {
    this.#path = path;
  }

  /** The last `count` lines; further reading goes on after them. */
  lastLines(count: number): string[] {
    this.#offset = Math.max(0, (statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0) - TAIL_BYTES);
    const cutsALine = this.#offset > 0;
    const lines = this.newLines();
    return (cutsALine ? lines.slice(1) : lines).slice(-count);
  }

  newLines(): string[] {
    if (!existsSync(this.#path)) return []; // removed, e.g. by `make reset`
    const descriptor = openSync(this.#path, 'r');
    try {
      const { size } = fstatSync(descriptor);
      if (size < this.#offset) [this.#offset, this.#rest] = [0, Buffer.alloc(0)];
      const added = Buffer.alloc(size - this.#offset);
      const length = readSync(descriptor, added, 0, added.length, this.#offset);
      this.#offset += length;
      return this.#split(added.subarray(0, length));
    } finally {
      closeSync(descriptor);
    }
  }

  /** Lines are cut as bytes, so that a character over two reads stays whole. */
  #split(added: Buffer): string[] {
    const text = Buffer.concat([this.#rest, added]);
    const end = text.lastIndexOf(0x0a) + 1;
    this.#rest = text.subarray(end);
    return end === 0 ? [] : text.toString('utf8', 0, end - 1).split('\n');
  }
}

export interface LogOptions {
  /** Only this service's. */
  service: string | undefined;
  /** Lines of each log to begin with. */
  lines: number;
  follow: boolean;
  /** Makes each line readable; absent, lines stay as the service wrote them. */
  readable?: (line: string) => string[];
}

const LOG = /^([a-z-]+)\.log$/;

function logsIn(folder: string, service: string | undefined): string[] {
  if (!existsSync(folder)) throw new StepError(`There are no logs in ${folder}.`, 'Start it: make up');
  const names = readdirSync(folder).flatMap((file) => LOG.exec(file)?.[1] ?? []);
  const wanted = names.filter((name) => service === undefined || name === service);
  if (wanted.length === 0) {
    throw new StepError(`There is no log of ${service ?? 'any service'}.`, `Logs: ${names.join(', ') || 'none yet'}.`);
  }
  return wanted.sort();
}

/** Writes to `write` until `stop` says so (only with `follow`). New services' logs are followed too. */
export async function logs(
  folder: string,
  { service, lines, follow, readable = (line) => [line] }: LogOptions,
  write: (text: string) => void,
  stop: AbortSignal,
): Promise<void> {
  const names = logsIn(folder, service);
  const width = Math.max(...names.map((name) => name.length));
  const files = new Map(names.map((name) => [name, new GrowingFile(join(folder, `${name}.log`))]));
  const print = (name: string, added: string[]): void =>
    added.flatMap(readable).forEach((line) => write(`${name.padEnd(width)} | ${line}\n`));
  // Watching begins before reading, so that nothing that is written in between is missed.
  const watcher = follow ? watch(folder, { signal: stop }) : undefined;
  watcher?.on('change', (_event, fileName) => {
    const name = LOG.exec(String(fileName))?.[1];
    if (name === undefined || (service !== undefined && name !== service)) return;
    const file = files.get(name) ?? new GrowingFile(join(folder, `${name}.log`));
    files.set(name, file);
    print(name, file.newLines());
  });
  for (const [name, file] of files) print(name, file.lastLines(lines));
  if (watcher) await new Promise<void>((resolve, reject) => watcher.once('close', resolve).once('error', reject));
}
