// COPY over a connection of `pg`, which itself knows the protocol's messages but offers no stream for them
// (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-COPY).
import type { Socket } from 'node:net';
import { once } from 'node:events';
import type pg from 'pg';

/** The part of pg's connection that carries COPY. */
interface CopyConnection {
  stream: Socket;
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/** What pg asks of an object that is given to `client.query` and has `submit`. */
class Copy {
  readonly started: Promise<CopyConnection>;
  /** Rows copied. */
  readonly done: Promise<number>;
  readonly #text: string;
  readonly #take: ((bytes: Buffer, connection: CopyConnection) => void) | undefined;
  #rows = 0;
  #failure: Error | undefined;
  #resolveStarted!: (connection: CopyConnection) => void;
  #rejectStarted!: (error: Error) => void;
  #resolveDone!: (rows: number) => void;
  #rejectDone!: (error: Error) => void;

  constructor(text: string, take?: (bytes: Buffer, connection: CopyConnection) => void) {
    this.#text = text;
    this.#take = take;
    this.started = new Promise((resolve, reject) => {
      this.#resolveStarted = resolve;
      this.#rejectStarted = reject;
    });
    this.done = new Promise((resolve, reject) => {
      this.#resolveDone = resolve;
      this.#rejectDone = reject;
    });
    // Each is awaited by whoever needs it; the other one must not count as unheard.
    this.started.catch(() => undefined);
    this.done.catch(() => undefined);
  }

  submit(connection: CopyConnection): void {
    connection.query(this.#text);
  }

  handleCopyInResponse(connection: CopyConnection): void {
    this.#resolveStarted(connection);
  }

  handleCopyData({ chunk }: { chunk: Buffer }, connection: CopyConnection): void {
    this.#take?.(Buffer.from(chunk), connection);
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#rows = Number(/^COPY (\d+)$/.exec(text)?.[1] ?? 0);
  }

  handleReadyForQuery(): void {
    if (this.#failure === undefined) this.#resolveDone(this.#rows);
    else this.#rejectDone(this.#failure);
  }

  /** The server goes on with ReadyForQuery, unless the connection is gone. */
  handleError(error: Error): void {
    this.#failure = error;
    this.#rejectStarted(error);
    this.#rejectDone(error);
  }

  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
}

const submit = (client: pg.Client, copy: Copy): void => void client.query(copy as unknown as pg.Query);

/** Bytes that wait for `take` before the server has to wait. */
const HIGH_BYTES = 4 * 1024 * 1024;
const PIECE_BYTES = 256 * 1024;

/** Gives the bytes of `COPY … TO STDOUT` to `take`, in pieces of about 256 KiB. Gives back how many rows there were. */
export async function copyOut(
  client: pg.Client,
  text: string,
  take: (bytes: Buffer) => Promise<void>,
): Promise<number> {
  let waiting: Buffer[] = [];
  let size = 0;
  let failure: { error: unknown } | undefined;
  let taking: Promise<void> = Promise.resolve();
  const flush = (): Promise<void> => {
    const piece = Buffer.concat(waiting);
    [waiting, size] = [[], 0];
    taking = taking.then(() => take(piece)).catch((error: unknown) => void (failure ??= { error }));
    return taking;
  };
  let handedOver = 0;
  const copy = new Copy(text, (bytes, { stream }) => {
    waiting.push(bytes);
    size += bytes.length;
    if (size < PIECE_BYTES) return;
    const piece = size;
    handedOver += piece;
    if (handedOver > HIGH_BYTES) stream.pause();
    void flush().then(() => {
      handedOver -= piece;
      if (handedOver <= HIGH_BYTES) stream.resume();
    });
  });
  submit(client, copy);
  const rows = await copy.done;
  if (size > 0) await flush();
  await taking;
  if (failure !== undefined) throw failure.error;
  return rows;
}

export interface CopyIn {
  write(bytes: Buffer): Promise<void>;
  /** Gives back how many rows were stored. */
  end(): Promise<number>;
}

/** Begins `COPY … FROM STDIN`. */
export async function copyIn(client: pg.Client, text: string): Promise<CopyIn> {
  const copy = new Copy(text);
  submit(client, copy);
  const connection = await copy.started;
  return {
    write: async (bytes) => {
      connection.sendCopyFromChunk(bytes);
      if (connection.stream.writableNeedDrain) await Promise.race([once(connection.stream, 'drain'), copy.done]);
    },
    end: async () => {
      connection.endCopyFrom();
      return copy.done;
    },
  };
}
