// Ports of an instance: the usual one, or the next free one, remembered so that URLs stay the same (OPS-9).
import { createServer } from 'node:net';
import { readIfPresent, writePrivate } from './private-file.ts';

const TRIES = 100;

/** Whether something can listen there now. Throws for anything but "in use" (e.g. an address that is not this machine's). */
export async function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port, exclusive: true }, resolve);
    });
  } catch (error) {
    if (['EADDRINUSE', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return true;
}

export interface PortWish {
  /** What the port is for; the key under which it is remembered. */
  name: string;
  host: string;
  /** Where to start looking when none is remembered. */
  usual: number;
  /** Set by the user: this one or none. */
  fixed?: boolean;
  /** Whether a service of ours listens on a port now: then it is kept. */
  held?: (port: number) => boolean;
}

export class PortBook {
  readonly #file: string;
  readonly #ports: Record<string, number>;

  constructor(file: string) {
    this.#file = file;
    this.#ports = JSON.parse(readIfPresent(file) ?? '{}') as Record<string, number>;
  }

  /** The port that was chosen for this name before. */
  remembered(name: string): number | undefined {
    return this.#ports[name];
  }

  /** The port for a wish, or undefined when a fixed one is taken. */
  async choose(wish: PortWish): Promise<number | undefined> {
    const remembered = this.#ports[wish.name];
    const isOurs = (port: number): boolean => port === remembered && (wish.held?.(port) ?? false);
    const first = wish.fixed ? wish.usual : (remembered ?? wish.usual);
    const taken = new Set(Object.entries(this.#ports).flatMap(([name, port]) => (name === wish.name ? [] : [port])));
    for (let port = first; port < first + (wish.fixed ? 1 : TRIES); port++) {
      if (!wish.fixed && taken.has(port)) continue;
      if (isOurs(port)) return port;
      // Asked again: a service that is just being started may have taken it meanwhile.
      if ((await isFree(wish.host, port)) || isOurs(port)) return this.#remember(wish.name, port);
    }
    return undefined;
  }

  #remember(name: string, port: number): number {
    if (this.#ports[name] !== port) {
      this.#ports[name] = port;
      writePrivate(this.#file, `${JSON.stringify(this.#ports, null, 2)}\n`);
    }
    return port;
  }
}
