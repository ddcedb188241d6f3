// The directory in Postgres keeps the contract.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createDatabase, PgTokenDirectory } from '#persistence';
import { createTestDatabase, describeTokenDirectory, type TestDatabase } from '#testing';
import { ProcessRows } from './process-rows.js';

let database: TestDatabase;
const closers: (() => Promise<void>)[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  await database.close();
});

/** A way to Postgres that can be cut. */
async function cuttable(url: string): Promise<{ url: string; cut: () => Promise<void> }> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
    }
    near.pipe(far).pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = new URL(url);
  near.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const cut = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  };
  return { url: near.toString(), cut };
}

describeTokenDirectory('PgTokenDirectory', async () => {
  const rows = await ProcessRows.create(database.url);
  const way = await cuttable(database.url);
  const db = createDatabase(way.url, { poolSize: 2 });
  closers.push(
    way.cut,
    () => db.close(),
    () => rows.close(),
  );
  return {
    directory: new PgTokenDirectory(db),
    addProcess: (token) => rows.addProcess(token),
    startRun: ({ processId }) => rows.startRun(processId),
    endRun: ({ processId }) => rows.endRun(processId),
    endProcess: ({ processId }) => rows.endProcess(processId),
    breakDown: way.cut,
    stored: () => rows.dump(),
  };
});
