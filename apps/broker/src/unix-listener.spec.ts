// Taking over a socket path on a real file system.
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acceptWaiting, listenByRename } from './unix-listener.js';

let folder: string;
const servers: Server[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'brk-'));
});
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.close();
    await once(server, 'close');
  }
  rmSync(folder, { recursive: true });
});

function server(name: string): Server {
  const made = createServer((connection) => connection.end(name));
  servers.push(made);
  return made;
}

async function ask(path: string): Promise<string> {
  const connection = connect(path).setEncoding('utf8');
  let text = '';
  for await (const chunk of connection as AsyncIterable<string>) text += chunk;
  return text;
}

describe('listenByRename', () => {
  it('BRK-16 makes folder and socket: open to all, the folder writable by its owner only, nothing else in it', async () => {
    const path = join(folder, 'run', 'broker', 'b.sock');
    await listenByRename(server('one'), path);
    expect(statSync(path).mode & 0o777).toBe(process.getuid?.() === 0 ? 0o600 : 0o666);
    expect(statSync(join(path, '..')).mode & 0o022).toBe(0);
    expect(readdirSync(join(path, '..'))).toEqual(['b.sock']);
    expect(await ask(path)).toBe('one');
  });

  it('BRK-16 takes a path over from a living server without a gap, and leaves it alone when that one ends', async () => {
    const path = join(folder, 'b.sock');
    const old = server('old');
    await listenByRename(old, path);
    const stopped = new AbortController();
    const answers = new Set<string>();
    const asking = (async () => {
      while (!stopped.signal.aborted) answers.add(await ask(path));
    })();
    await listenByRename(server('new'), path);
    await acceptWaiting(old);
    old.close();
    await once(old, 'close');
    servers.shift();
    expect(await ask(path)).toBe('new');
    stopped.abort();
    await asking;
    expect([...answers].filter((answer) => answer !== 'old' && answer !== 'new')).toEqual([]);
  });

  it('BRK-16 replaces the dead socket of a server that was killed', async () => {
    const path = join(folder, 'b.sock');
    const dead = server('dead');
    await listenByRename(dead, path);
    dead.close();
    await once(dead, 'close');
    servers.pop();
    expect(statSync(path).isSocket()).toBe(true);
    await expect(ask(path)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await listenByRename(server('next'), path);
    expect(await ask(path)).toBe('next');
  });

  it.each([0o777, 0o775, 0o757])('BRK-16 refuses a folder that others could write (%o)', async (mode) => {
    chmodSync(folder, mode);
    await expect(listenByRename(createServer(), join(folder, 'b.sock'))).rejects.toMatchObject({
      code: 'config.invalid',
    });
  });

  it('BRK-16 refuses to replace what is no socket', async () => {
    writeFileSync(join(folder, 'b.sock'), 'precious');
    mkdirSync(join(folder, 'd.sock'));
    for (const name of ['b.sock', 'd.sock']) {
      await expect(listenByRename(createServer(), join(folder, name))).rejects.toMatchObject({
        code: 'config.invalid',
      });
    }
  });
});
