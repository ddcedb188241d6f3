// The proxy's faults, each against a service that answers every piece of bytes with its upper case.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { FaultProxy } from './fault-proxy.js';

let server: Server;
let heard: string[];
let proxy: FaultProxy;
let drawn: number;
beforeEach(async () => {
  heard = [];
  drawn = 0.5;
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => {
      heard.push(bytes.toString());
      socket.write(bytes.toString().toUpperCase());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  proxy = await FaultProxy.start({ listen: { port: 0 }, target: { port }, random: () => drawn });
});
afterEach(async () => {
  await proxy.close();
  server.close();
});

async function dial(): Promise<Socket> {
  const socket = connect(proxy.port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}
const answer = async (socket: Socket): Promise<string> => String((await once(socket, 'data'))[0]);

it('CHS-4 passes everything on while nothing is asked of it', async () => {
  const socket = await dial();
  socket.write('hello');
  expect(await answer(socket)).toBe('HELLO');
  socket.destroy();
});

it('CHS-4 breaks what stands and refuses what is new, then is there again at the same port', async () => {
  const socket = await dial();
  const closed = once(socket, 'close');
  await proxy.cut();
  await closed;
  const refused = connect(proxy.port, '127.0.0.1');
  const [error] = (await once(refused, 'error')) as [NodeJS.ErrnoException];
  expect(error.code).toBe('ECONNREFUSED');
  await proxy.heal();
  const next = await dial();
  next.write('again');
  expect(await answer(next)).toBe('AGAIN');
  next.destroy();
});

it('CHS-4 is half-open: nothing comes through and nothing is lost', async () => {
  const socket = await dial();
  socket.write('before');
  await answer(socket);
  proxy.freeze();
  socket.write('waits');
  const other = await dial(); // its connection stands, too
  expect(heard).toEqual(['before']);
  await proxy.heal();
  expect(await answer(socket)).toBe('WAITS');
  for (const each of [socket, other]) each.destroy();
});

it('CHS-4 holds each piece back for as long as asked, in order', async () => {
  proxy.slow(() => 30);
  const socket = await dial();
  const from = performance.now();
  socket.write('one');
  expect(await answer(socket)).toBe('ONE');
  expect(performance.now() - from).toBeGreaterThan(50);
  socket.destroy();
});

it('CHS-4 rejects: the service never hears the request', async () => {
  proxy.befall({ reject: 0.6, hang: 0, hangMs: 0, runThenReject: 0 });
  const socket = await dial();
  socket.write('lost');
  await once(socket, 'close');
  expect([heard, proxy.counts]).toEqual([[], { reject: 1, hang: 0, runThenReject: 0 }]);
});

it('CHS-4 hangs: nobody answers, then the connection breaks', async () => {
  proxy.befall({ reject: 0.4, hang: 0.2, hangMs: 40, runThenReject: 0 });
  const socket = await dial();
  const from = performance.now();
  socket.write('lost');
  await once(socket, 'close');
  expect(performance.now() - from).toBeGreaterThan(30);
  expect([heard, proxy.counts.hang]).toEqual([[], 1]);
});

it('CHS-4 runs and then rejects: the service carries it out, and nobody learns of it', async () => {
  proxy.befall({ reject: 0.2, hang: 0.2, hangMs: 0, runThenReject: 0.2 });
  const socket = await dial();
  const answers: string[] = [];
  socket.on('data', (bytes) => answers.push(String(bytes)));
  socket.write('done');
  await once(socket, 'close');
  expect([heard, answers, proxy.counts.runThenReject]).toEqual([['done'], [], 1]);
});
