// What a worker does to a sandbox waits for its lease; what it only reads does not.
import { newId } from '#kernel';
import { FakeSandboxRuntime } from '#sandbox/fake';
import { LeaseTerm } from '../hosts/lease-term.js';
import { LeasedConnection } from './leased-connection.js';

const LEASE_MS = 1_000;

/** A warm agent, which reads its stdin to the end, over a connection of a worker whose clock the test sets. */
async function warmAgent() {
  const runtime = new FakeSandboxRuntime();
  const limits = { memoryBytes: 1, cpus: 1, pids: 1, tmpBytes: 1, spoolBytes: 1 << 20 };
  const spec = { sandboxId: newId(), projectId: newId(), image: 'i', workspacePath: '/w', uid: 1, gid: 1, limits };
  await runtime.ensure(spec);
  let now = 0;
  const term = new LeaseTerm(LEASE_MS, { monotonicMs: () => now });
  term.renewed(0);
  const inner = await runtime.connect(spec.sandboxId, { hostEpoch: 1 });
  const connection = new LeasedConnection(inner, term);
  const processId = newId();
  await connection.start({ processId, argv: ['cat'], cwd: '/workspace', env: {}, stdin: 'pipe', epoch: 1 });
  const state = async () => (await connection.info(processId)).state;
  const sleep = (ms: number) => (now += ms);
  return { connection, inner, term, processId, state, sleep };
}

/** Lets everything happen that waits for nothing but its turn. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('LeasedConnection', () => {
  it('ENG-52 leaves an agent alone while the lease has run out and the next holder has not connected yet', async () => {
    const { connection, term, processId, state, sleep } = await warmAgent();
    sleep(LEASE_MS);
    const changes = [
      connection.closeInput(processId, { epoch: 1 }),
      connection.input(processId, { key: 'k', data: Buffer.from('x'), epoch: 1 }),
      connection.signal(processId, { signal: 'SIGKILL', scope: 'tree', epoch: 1 }),
      connection.attach(processId, { fromOffset: 0, epoch: 9 }),
      connection.acknowledge(processId, { offset: 0, epoch: 9 }),
      connection.forget(processId, { epoch: 9 }),
      connection.start({ processId: newId(), argv: ['cat'], cwd: '/', env: {}, stdin: 'null', epoch: 1 }),
    ];
    const refused = Promise.allSettled(changes);
    await turn();
    expect(await state()).toBe('running');
    expect(await connection.info(processId)).toMatchObject({ epoch: 1, inputKeys: [] });
    expect(await connection.list()).toHaveLength(1);
    term.end();
    const reasons = (await refused).map((result) => (result.status === 'rejected' ? (result.reason as object) : {}));
    expect(reasons).toEqual(changes.map(() => expect.objectContaining({ code: 'host.lease_lost' }) as object));
    expect(await state()).toBe('running');
  });

  it('ENG-52 goes on, in order, when the lease was renewed', async () => {
    const { connection, inner, term, processId, sleep } = await warmAgent();
    sleep(LEASE_MS);
    const input = (key: string) => connection.input(processId, { key, data: Buffer.from(`${key}\n`), epoch: 1 });
    const written = [input('a'), input('b'), connection.closeInput(processId, { epoch: 1 })];
    await turn();
    expect((await inner.info(processId)).inputKeys).toEqual([]);
    term.renewed(LEASE_MS);
    await Promise.all(written);
    expect((await inner.info(processId)).inputKeys).toEqual(['a', 'b']);
    const output = await connection.attach(processId, { fromOffset: 0, epoch: 1 });
    let echoed = '';
    for await (const { data } of output) echoed += Buffer.from(data).toString();
    expect(echoed).toBe('a\nb\n');
    expect(await output.ended).toMatchObject({ code: 0 });
  });
});
