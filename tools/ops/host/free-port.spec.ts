// Which port an instance takes.
import { spawn } from 'node:child_process';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFree, PortBook } from './free-port.ts';
import { isListening } from './listening.ts';

let folder: string;
let server: Server;
let busy: number;
const host = '127.0.0.1';

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gantry-ports-'));
  server = createServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  busy = address.port;
});
afterEach(async () => {
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true });
});

const listensOn = (port: number): boolean => isListening(process.pid, port);
const book = (): PortBook => new PortBook(join(folder, 'ports.json'));

describe('ports', () => {
  it('OPS-9 takes a free one after the usual one, and the same the next time', async () => {
    const first = await book().choose({ name: 'gateway', host, usual: busy });
    expect(first).toBeGreaterThan(busy);
    expect(await book().choose({ name: 'gateway', host, usual: busy })).toBe(first);
  });

  it('OPS-9 gives a port that the user named, or none', async () => {
    expect(await book().choose({ name: 'gateway', host, usual: busy, fixed: true })).toBeUndefined();
  });

  it('OPS-9 keeps the port that a running service of ours holds', async () => {
    const ports = book();
    const port = await ports.choose({ name: 'gateway', host, usual: busy });
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(port, host, resolve));
    expect(await book().choose({ name: 'gateway', host, usual: busy, held: listensOn })).toBe(port);
    expect(await book().choose({ name: 'gateway', host, usual: busy })).not.toBe(port);
    await new Promise((resolve) => holder.close(resolve));
  });

  it('OPS-9 leaves a remembered port that something else took, though a process of the service runs', async () => {
    const port = await book().choose({ name: 'gateway', host, usual: busy });
    const stranger = createServer();
    await new Promise<void>((resolve) => stranger.listen(port, host, resolve));
    const ours = spawn('sleep', ['600'], { stdio: 'ignore' });
    const held = (candidate: number): boolean => isListening(ours.pid ?? 0, candidate);
    expect([held(port ?? 0), isListening(process.pid, port ?? 0)]).toEqual([false, true]);
    expect(await book().choose({ name: 'gateway', host, usual: busy, held })).toBeGreaterThan(port ?? 0);
    ours.kill('SIGKILL');
    await new Promise((resolve) => stranger.close(resolve));
  });

  it('OPS-9 knows who listens by IPv6, and that nobody does', async () => {
    const all = createServer();
    await new Promise<void>((resolve) => all.listen(0, '::', resolve));
    const { port } = all.address() as AddressInfo;
    expect(isListening(process.pid, port)).toBe(true);
    await new Promise((resolve) => all.close(resolve));
    expect(isListening(process.pid, port)).toBe(false);
  });

  it('OPS-9 gives no two services the same port', async () => {
    const ports = book();
    const first = await ports.choose({ name: 'gateway', host, usual: busy });
    const second = await ports.choose({ name: 'worker', host, usual: busy });
    expect(second).not.toBe(first);
  });

  it('OPS-9 says what cannot be listened on at all', async () => {
    expect(await isFree(host, busy)).toBe(false);
    await expect(isFree('203.0.113.1', 1)).rejects.toMatchObject({ code: 'EADDRNOTAVAIL' });
  });
});
