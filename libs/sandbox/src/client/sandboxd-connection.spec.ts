// The worker's end against a supervisor that is scripted here: what it sends, and what it makes of odd answers.
import { mkdtempSync, rmSync } from 'node:fs';
import { type Server, type Socket, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '#kernel';
import {
  FRAME,
  FrameDecoder,
  MAX_UNREAD_FRAMES,
  MAX_INPUT_BYTES,
  type Notice,
  type Request,
  dataHeader,
  encodeBye,
  encodeDetached,
  encodeEnd,
  encodeError,
  encodeFrame,
  encodeResult,
  parseRequest,
} from '../wire/index.js';
import { WINDOW_BYTES } from './output-stream.js';
import { SandboxdConnection } from './sandboxd-connection.adapter.js';

let folder: string;
let server: Server;
/** What the supervisor does with each request after hello. */
let answer: (request: Request | Notice, socket: Socket) => void;
let received: (Request | Notice)[];
const sockets: Socket[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gantry-client-'));
  answer = () => undefined;
  received = [];
  server = createServer((socket) => {
    sockets.push(socket);
    const decoder = new FrameDecoder([FRAME.control, FRAME.input]);
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      for (const { type, payload } of decoder.push(chunk)) {
        if (type !== FRAME.control) continue;
        const request = parseRequest(payload);
        received.push(request);
        if (request.op === 'hello') socket.write(encodeResult(request.n, { wire: 1, bootId: 'boot', hostEpoch: 1 }));
        else answer(request, socket);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(join(folder, 's'), resolve));
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.close();
  rmSync(folder, { recursive: true });
});

const open = async (timeoutMs?: number): Promise<SandboxdConnection> =>
  SandboxdConnection.greet('sandbox', connect(join(folder, 's')), 1, timeoutMs);
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const rejects = (work: Promise<unknown>, code: string): Promise<void> => expect(work).rejects.toMatchObject({ code });

describe('a connection', () => {
  it('SBX-29 gives up a supervisor that does not answer', async () => {
    const connection = await open(50);
    await rejects(connection.info('p'), 'sandbox.connection_lost');
    expect(await connection.closed).toEqual({ code: 'sandbox.connection_lost' });
  });

  it.each([
    ['no frame', Buffer.from('not a frame at all')],
    ['an answer of another shape', encodeFrame(FRAME.control, Buffer.from('{"re":2,"result":{"processId":7}}'))],
    ['an unknown event', encodeFrame(FRAME.control, Buffer.from('{"ev":"surprise"}'))],
  ])('SBX-2 ends at %s, and says so to whoever waits', async (_what, bytes) => {
    const connection = await open();
    answer = (_request, socket) => socket.write(bytes);
    await rejects(connection.info('p'), 'sandbox.protocol');
    expect(await connection.closed).toEqual({ code: 'sandbox.connection_lost' });
    await rejects(connection.info('p'), 'sandbox.connection_lost');
  });

  it('SBX-1 hands on the errors of the supervisor', async () => {
    const connection = await open();
    answer = (request, socket) => {
      const error = new AppError('sandbox.process_not_found', 'None.', { details: { a: 1 } });
      if (request.n !== null) socket.write(encodeError(request.n, error));
    };
    await expect(connection.info('p')).rejects.toMatchObject({ code: 'sandbox.process_not_found', details: { a: 1 } });
    connection.close();
  });

  it('SBX-5 that is taken over says so everywhere', async () => {
    const connection = await open();
    answer = (request, socket) => {
      if (request.op === 'attach') socket.write(encodeResult(request.n, { headOffset: 0 }));
      else socket.end(encodeBye('sandbox.epoch_stale'));
    };
    const output = await connection.attach('p', { fromOffset: 0, epoch: 1 });
    await rejects(connection.memoryStatus(), 'sandbox.epoch_stale');
    await rejects(output.ended, 'sandbox.epoch_stale');
    await rejects(output[Symbol.asyncIterator]().next(), 'sandbox.epoch_stale');
    expect(await connection.closed).toEqual({ code: 'sandbox.epoch_stale' });
  });

  it('SBX-7 refuses input that no frame could carry, and goes on', async () => {
    const connection = await open();
    const input = (key: string, data: Uint8Array): Promise<unknown> => connection.input('p', { key, data, epoch: 1 });
    await rejects(input('k', Buffer.alloc(MAX_INPUT_BYTES + 1)), 'request.too_large');
    await rejects(input('with space', Buffer.from('x')), 'sandbox.protocol');
    await rejects(input('', Buffer.from('x')), 'sandbox.protocol');
    const env = { LARGE: 'x'.repeat(2 * 1024 * 1024) };
    const start = connection.start({ processId: 'p', argv: ['true'], cwd: '/', env, stdin: 'null', epoch: 1 });
    await rejects(start, 'sandbox.protocol');
    answer = (request, socket) => socket.write(encodeResult(request.n ?? 0, { oomKills: 0, usedBytes: 1 }));
    expect(await connection.memoryStatus()).toEqual({ oomKills: 0, usedBytes: 1 });
    connection.close();
  });
});

describe('an attached output', () => {
  /** Sends as much as credit allows, in frames of this size, like sandboxd; returns how much was sent. */
  function serveFlood(frameBytes: number, totalBytes: number): { sent: () => number } {
    let [stream, sent, upTo, framesLeft] = [0, 0, 0, MAX_UNREAD_FRAMES];
    const pump = (socket: Socket): void => {
      while (sent < totalBytes && sent + frameBytes <= upTo && framesLeft > 0) {
        const payload = Buffer.concat([dataHeader(stream, 'stdout', sent), Buffer.alloc(frameBytes, 'x')]);
        socket.write(encodeFrame(FRAME.data, payload));
        sent += frameBytes;
        framesLeft--;
      }
      if (sent === totalBytes) socket.write(encodeEnd(stream, { code: 0, signal: null, outOfMemory: false }));
    };
    answer = (request, socket) => {
      if (request.op !== 'attach' && request.op !== 'credit') return;
      ({ stream, creditUpTo: upTo } = request.body);
      if (request.op === 'credit') framesLeft += request.body.frames;
      if (request.op === 'attach') socket.write(encodeResult(request.n, { headOffset: totalBytes }));
      pump(socket);
    };
    return { sent: () => sent };
  }

  it.each([
    ['large', 32 * 1024, 64 * 32 * 1024],
    ['tiny', 1, 20_000],
  ])('SBX-14 with %s frames is asked for only as it is read', async (_what, frameBytes, totalBytes) => {
    const flood = serveFlood(frameBytes, totalBytes);
    const connection = await open();
    const output = await connection.attach('p', { fromOffset: 0, epoch: 1 });
    const ahead = Math.min(WINDOW_BYTES, MAX_UNREAD_FRAMES * frameBytes);
    while (flood.sent() < ahead) await turn();
    let [read, furthest] = [0, 0];
    for await (const { data } of output) {
      read += data.length;
      furthest = Math.max(furthest, flood.sent() - read);
    }
    expect(read).toBe(totalBytes);
    expect(furthest).toBeLessThanOrEqual(ahead);
    expect(await output.ended).toMatchObject({ code: 0 });
    connection.close();
  });

  it('SBX-14 that its reader leaves is given up at the supervisor', async () => {
    serveFlood(1024, 10 * WINDOW_BYTES);
    const connection = await open();
    for await (const _chunk of await connection.attach('p', { fromOffset: 0, epoch: 1 })) break;
    answer = () => undefined;
    while (!received.some(({ op }) => op === 'detach')) await turn();
    connection.close();
  });

  it('SBX-8 that is taken over ends with that error after what had come', async () => {
    answer = (request, socket) => {
      if (request.op !== 'attach') return;
      const { stream } = request.body;
      socket.write(encodeResult(request.n, { headOffset: 4 }));
      socket.write(encodeFrame(FRAME.data, Buffer.concat([dataHeader(stream, 'stderr', 0), Buffer.from('last')])));
      socket.write(encodeDetached(stream, new AppError('sandbox.epoch_stale', 'Taken over.')));
    };
    const connection = await open();
    const output = await connection.attach('p', { fromOffset: 0, epoch: 1 });
    await rejects(output.ended, 'sandbox.epoch_stale');
    const iterator = output[Symbol.asyncIterator]();
    expect(await iterator.next()).toMatchObject({ value: { offset: 0, channel: 'stderr' } });
    await rejects(iterator.next(), 'sandbox.epoch_stale');
    connection.close();
  });
});
