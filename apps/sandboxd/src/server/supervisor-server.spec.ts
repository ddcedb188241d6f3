// What the server says to clients that do not follow the wire. A real socket; the jobs are none.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { type Socket, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FRAME, FrameDecoder, type Reply, encodeFrame, encodeRequest, parseReply } from '#sandbox/wire';
import type { JobTable } from '../jobs/job-table.js';
import { HostFence } from './host-fence.js';
import { RequestHandler } from './request-handler.js';
import { SupervisorServer } from './supervisor-server.js';

let folder: string;
let path: string;
let server: SupervisorServer;
const clients: Client[] = [];

/** A table without jobs: nothing here starts one. */
const noJobs = { describeAll: () => [] } as unknown as JobTable;
const wire = { min: 1, max: 1 };

class Client {
  readonly replies: Reply[] = [];
  readonly closed: Promise<void>;
  private readonly socket: Socket;
  private wake: () => void = () => undefined;

  constructor() {
    const decoder = new FrameDecoder([FRAME.control, FRAME.data]);
    this.socket = connect(path);
    this.socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => this.socket.once('close', () => resolve()));
    this.socket.on('data', (chunk: Buffer) => {
      for (const { payload } of decoder.push(chunk)) this.replies.push(parseReply(payload));
      this.wake();
    });
    clients.push(this);
  }

  send(...frames: Buffer[]): this {
    for (const frame of frames) this.socket.write(frame);
    return this;
  }

  async reply(index: number): Promise<Reply> {
    for (;;) {
      const reply = this.replies[index];
      if (reply) return reply;
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  end(): void {
    this.socket.destroy();
  }
}

const hello = (hostEpoch: number | null, versions = wire): Buffer =>
  encodeRequest(1, 'hello', { wire: versions, hostEpoch });

async function startServer(): Promise<void> {
  const handler = new RequestHandler(noJobs, () => ({ oomKills: 0, usedBytes: 7 }));
  const fence = new HostFence(join(folder, 'host-epoch'), (error) => expect(error).toBeUndefined());
  server = new SupervisorServer({ bootId: 'boot', handler, fence, log: () => undefined });
  await server.listen(path);
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gantry-server-'));
  path = join(folder, 'd.sock');
  await startServer();
});
afterEach(() => {
  for (const client of clients.splice(0)) client.end();
  server.close();
  rmSync(folder, { recursive: true });
});

describe('the server', () => {
  it('SBX-4 answers hello with its boot, the wire version and the host epoch', async () => {
    expect(await new Client().send(hello(4)).reply(0)).toEqual({
      ...{ kind: 'result', re: 1 },
      result: { wire: 1, bootId: 'boot', hostEpoch: 4 },
    });
  });

  it("SBX-19 has a socket that only root may open, if its folder is root's", () => {
    expect(statSync(path).mode & 0o777).toBe(process.getuid?.() === 0 ? 0o600 : 0o666);
  });

  it.each([
    ['says something before hello', [encodeRequest(1, 'list', { after: null })]],
    ['says hello twice', [hello(1), hello(1)]],
    ['sends what is no frame', [Buffer.from('GET / HTTP/1.1\r\n\r\n')]],
    ['sends a reserved frame', [hello(1), Buffer.from([0, 0, 0, 1, FRAME.ptyInput])]],
    ['sends no JSON', [hello(1), encodeFrame(FRAME.control, Buffer.from('{'))]],
    ['sends half an input', [hello(1), encodeFrame(FRAME.input, Buffer.alloc(9))]],
  ])('SBX-4 says goodbye to a client that %s', async (_what, frames) => {
    const client = new Client().send(...frames);
    await client.closed;
    expect(client.replies.at(-1)).toEqual({ kind: 'bye', code: 'sandbox.protocol' });
  });

  it('SBX-3 refuses a client with which it has no version in common, and says its own', async () => {
    const client = new Client().send(hello(1, { min: 2, max: 9 }));
    expect(await client.reply(0)).toMatchObject({ kind: 'error', error: { code: 'sandbox.protocol', details: wire } });
    await client.closed;
  });

  it('SBX-5 lets a probe read, and change nothing, the epoch included', async () => {
    const change = encodeRequest(2, 'forget', { processId: 'p', epoch: 1 });
    const probe = new Client().send(hello(null), change, encodeRequest(3, 'memory', {}));
    expect(await probe.reply(1)).toMatchObject({ kind: 'error', re: 2, error: { code: 'sandbox.protocol' } });
    expect(await probe.reply(2)).toEqual({ kind: 'result', re: 3, result: { oomKills: 0, usedBytes: 7 } });
    expect(await new Client().send(hello(0)).reply(0)).toMatchObject({ result: { hostEpoch: 0 } });
  });

  it('SBX-5 drops lower host epochs when a higher one comes, and refuses them later, after a restart too', async () => {
    const old = new Client().send(hello(1));
    await old.reply(0);
    await new Client().send(hello(2)).reply(0);
    await old.closed;
    expect(old.replies.at(-1)).toEqual({ kind: 'bye', code: 'sandbox.epoch_stale' });
    server.close();
    await startServer();
    const late = new Client().send(hello(1));
    expect(await late.reply(0)).toMatchObject({ kind: 'error', error: { code: 'sandbox.epoch_stale' } });
    await late.closed;
  });

  it('SBX-2 answers a request that it cannot do with an error, and goes on', async () => {
    const handler = { answer: () => Promise.reject(new Error('a defect')) } as unknown as RequestHandler;
    server.close();
    const fence = new HostFence(join(folder, 'other'), () => undefined);
    server = new SupervisorServer({ bootId: 'boot', handler, fence, log: () => undefined });
    await server.listen(path);
    const client = new Client().send(hello(1), encodeRequest(2, 'memory', {}), encodeRequest(3, 'memory', {}));
    expect(await client.reply(1)).toMatchObject({ re: 2, error: { code: 'internal.unexpected' } });
    expect(await client.reply(2)).toMatchObject({ re: 3 });
  });

  it('SBX-2 attaches nobody who has gone while the request was on its way', async () => {
    let release: () => void = () => undefined;
    let asked: () => void = () => undefined;
    const wasAsked = new Promise<void>((resolve) => (asked = resolve));
    const attached: unknown[] = [];
    const job = { exit: null, spool: { head: 0, tail: 0 }, attach: (listener: unknown) => attached.push(listener) };
    let outcome: Promise<unknown> = Promise.resolve();
    const handler = {
      answer: (_request: unknown, { attach }: { attach(job: unknown, how: object): void }) => {
        outcome = new Promise<void>((resolve) => (release = resolve))
          .then(() => attach(job, { stream: 1, fromOffset: 0, creditUpTo: 0, epoch: 1 }))
          .catch((error: unknown) => error);
        asked();
        return outcome;
      },
    } as unknown as RequestHandler;
    server.close();
    const fence = new HostFence(join(folder, 'another'), () => undefined);
    server = new SupervisorServer({ bootId: 'boot', handler, fence, log: () => undefined });
    await server.listen(path);
    new Client().send(hello(1), encodeRequest(2, 'memory', {}));
    await wasAsked;
    // A newer host closes the connection of the older one.
    await new Client().send(hello(2)).reply(0);
    release();
    expect(await outcome).toMatchObject({ code: 'sandbox.connection_lost' });
    expect(attached).toEqual([]);
  });
});
