// The way from localhost:8082 in a sandbox to the broker's socket on the host.
import { rmSync } from 'node:fs';
import { type Server, type Socket, createServer } from 'node:net';
import { join } from 'node:path';
import type { SandboxConnection } from '#domain';
import { DockerSandboxFixture } from './docker-sandbox.fixture.js';
import { eventually } from './eventually.js';
import { runCommand } from './run-command.js';

jest.setTimeout(60_000);

const fixture = new DockerSandboxFixture();
const socketPath = join(fixture.brokerSocketDir, 'broker.sock');
let connection: SandboxConnection;
let broker: Server | null = null;

/** A broker that does this with each connection. */
async function startBroker(serve: (socket: Socket) => void): Promise<void> {
  rmSync(socketPath, { force: true });
  broker = createServer({ allowHalfOpen: true }, serve);
  await new Promise<void>((resolve) => broker?.listen(socketPath, resolve));
}
const stopBroker = async (): Promise<void> => {
  await new Promise<void>((resolve) => (broker ? broker.close(() => resolve()) : resolve()));
  broker = null;
};
const node = async (script: string): Promise<string> =>
  (await runCommand(connection, ['node', '-e', `const net = require('net');${script}`])).stdout.trim();

beforeAll(async () => {
  await fixture.start();
  const spec = fixture.spec();
  await fixture.runtime.ensure(spec);
  connection = await fixture.runtime.connect(spec.sandboxId, { hostEpoch: 1 });
});
afterEach(stopBroker);
afterAll(async () => {
  connection.close();
  await fixture.stop();
});

describe('the forwarder', () => {
  it('SBX-22 loses nothing when the caller ends its half first', async () => {
    let received = 0;
    await startBroker((socket) => {
      socket.on('data', (data) => (received += data.length));
      // Only now, when the caller has said all, comes the answer.
      socket.on('end', () => socket.end(Buffer.alloc(3_000_000, 'a')));
    });
    const seen = await node(`
      const socket = net.connect({ port: 8082, host: 'localhost', allowHalfOpen: true });
      let got = 0; socket.on('data', (data) => got += data.length).on('close', () => console.log(got));
      socket.end(Buffer.alloc(2000000));`);
    expect([seen, received]).toEqual(['3000000', 2_000_000]);
  });

  it('SBX-22 loses nothing when the broker ends its half first', async () => {
    let received = 0;
    const ended = new Promise<void>((resolve) => {
      void startBroker((socket) => {
        socket.end('early');
        socket.on('data', (data) => (received += data.length)).on('end', resolve);
      }).then(() =>
        node(`
          const socket = net.connect({ port: 8082, host: 'localhost', allowHalfOpen: true });
          socket.on('data', () => {}).on('end', () => socket.end(Buffer.alloc(2000000)));`),
      );
    });
    await ended;
    expect(received).toBe(2_000_000);
  });

  it('SBX-22 tells a caller that there is no broker, and works again when there is', async () => {
    rmSync(socketPath, { force: true });
    const ask = () =>
      node(
        `net.connect(8082, '127.0.0.1').on('error', (e) => console.log(e.code)).on('close', () => console.log('closed')).on('data', (d) => console.log(String(d))).on('end', () => {});`,
      );
    expect(await ask()).toContain('closed');
    await startBroker((socket) => socket.end('hello'));
    expect(await ask()).toContain('hello');
    await stopBroker();
    await startBroker((socket) => socket.end('hello from the next one'));
    expect(await ask()).toContain('hello from the next one');
  });

  it('SBX-22 ends the call of one whose broker goes away in the middle', async () => {
    await startBroker((socket) => {
      socket.write('half');
      socket.once('data', () => socket.destroy());
    });
    const seen = await node(`
      const socket = net.connect(8082, '127.0.0.1').on('close', () => console.log('closed')).on('error', () => {});
      socket.on('data', () => socket.write('go'));`);
    expect(seen).toBe('closed');
  });

  it('SBX-22 survives a caller that resets its connection, and tells the broker', async () => {
    let ended = 0;
    await startBroker((socket) => {
      socket.on('error', () => undefined);
      socket.on('end', () => socket.end()).resume();
      socket.once('close', () => ended++);
      socket.write('answer');
    });
    for (let round = 0; round < 3; round++) {
      await node(`const socket = net.connect(8082, '127.0.0.1'); socket.once('data', () => socket.resetAndDestroy());`);
    }
    await eventually(
      async () => ended,
      (count) => count === 3,
    );
    expect(await node(`console.log('alive')`)).toBe('alive');
  });
});
