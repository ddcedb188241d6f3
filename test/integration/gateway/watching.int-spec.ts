// Watching a project through two gateways, whatever the bus loses.
import { newId } from '#kernel';
import type { ClientData } from '#protocol';
import type { SocketClient } from '#testing';
import { GatewayFixture, type RunningGateway } from './gateway-fixture.js';

let fixture: GatewayFixture;
let one: RunningGateway;
let two: RunningGateway;
let client: SocketClient;

beforeAll(async () => {
  fixture = await GatewayFixture.create();
  one = await fixture.gateway();
  two = await fixture.gateway();
  client = await fixture.client(one);
});
afterEach(() => {
  fixture.host.silent = false;
});
afterAll(() => fixture.close());

const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
const seqs = (watcher: SocketClient): number[] => watcher.all('event').map(({ seq }) => seq);

/** A project with a run that a worker holds. */
async function working() {
  const { project_id } = await fixture.project(client);
  const { run_id } = await client.call('execute_command', { project_id, command: 'sleep 1' });
  return { project_id, run: await fixture.host.claim(run_id) };
}

it('GW-24 gives watchers at two gateways every event once and in order', async () => {
  const { project_id, run } = await working();
  const watchers = [await fixture.client(one), await fixture.client(two), await fixture.client(two)];
  const heads = await Promise.all(
    watchers.map(async (watcher) => (await watcher.call('project_join', { project_id })).head_seq),
  );
  const from = heads[0]! + 1;
  expect(heads).toEqual([from - 1, from - 1, from - 1]);
  for (let round = 0; round < 10; round += 1) await fixture.host.append(run, 3, `round ${round} `);
  await fixture.host.finish(run);
  for (const watcher of watchers) {
    await watcher.waitFor('event', ({ type }) => type === 'run.finished');
    const last = watcher.all('event').at(-1)!.seq;
    await watcher.until(() => seqs(watcher).includes(from + 30), 'the end');
    expect(seqs(watcher)).toEqual(range(from, Math.max(last, ...seqs(watcher))));
  }
});

it('GW-24, GW-25 finds what the bus lost by comparing heads, without a word more', async () => {
  const { project_id, run } = await working();
  const watcher = await fixture.client(two);
  const { head_seq } = await watcher.call('project_join', { project_id });
  fixture.host.silent = true;
  await fixture.host.append(run, 5);
  await watcher.until(() => seqs(watcher).length === 5, 'five lost events');
  expect(seqs(watcher)).toEqual(range(head_seq + 1, head_seq + 5));
});

it('GW-24 fills a gap as soon as it shows, in order', async () => {
  const slow = await fixture.gateway({ tuning: { tickMs: 3_600_000 } });
  const { project_id, run } = await working();
  const watcher = await fixture.client(slow);
  const { head_seq } = await watcher.call('project_join', { project_id });
  fixture.host.silent = true;
  await fixture.host.append(run, 4);
  fixture.host.silent = false;
  await fixture.host.append(run, 1);
  await watcher.until(() => seqs(watcher).length === 5, 'five events');
  expect(seqs(watcher)).toEqual(range(head_seq + 1, head_seq + 5));
});

it('GW-24 reads events that are too large for the bus from the store', async () => {
  const slow = await fixture.gateway({ tuning: { tickMs: 3_600_000 } });
  const { project_id, run } = await working();
  const watcher = await fixture.client(slow);
  await watcher.call('project_join', { project_id });
  await fixture.host.append(run, 3, 'x'.repeat(400 * 1024));
  await watcher.until(() => seqs(watcher).length === 3, 'three large events');
  expect(watcher.all('event').map(({ payload }) => String(payload['text']).length)).toEqual(
    Array(3).fill(400 * 1024 + 1),
  );
});

it('GW-26 joins while events are written, without a gap, a repetition or a push before the answer', async () => {
  const { project_id, run } = await working();
  const stop = new AbortController();
  const writer = (async () => {
    while (!stop.signal.aborted) await fixture.host.append(run, 2);
  })();
  const joined = await Promise.all(
    Array.from({ length: 6 }, async (_, index) => {
      const watcher = await fixture.client(index % 2 === 0 ? one : two);
      const answer = await new Promise<ClientData<'project_join'>>((resolve) => {
        watcher.socket.emit(
          'project_join',
          { project_id, since_seq: 0 },
          (ack: { data: ClientData<'project_join'> }) => {
            expect(watcher.all('event')).toEqual([]);
            resolve(ack.data);
          },
        );
      });
      return { watcher, answer };
    }),
  );
  stop.abort();
  await writer;
  const head = (await client.call('get_messages', { project_id, limit: 1 })).newest_seq;
  for (const { watcher, answer } of joined) {
    await watcher.until(() => answer.head_seq === head || seqs(watcher).includes(head), 'the head');
    expect([...answer.events.map(({ seq }) => seq), ...seqs(watcher)]).toEqual(range(1, head));
  }
});

it('GW-26 answers with what was missed, the newest kept, and names the gap', async () => {
  const { project_id, run } = await working();
  await fixture.host.append(run, 1100);
  const { head_seq, ...full } = await client.call('project_join', { project_id, since_seq: 2 });
  expect(full.events).toHaveLength(1000);
  expect(full).toMatchObject({
    gap: { from_seq: 3, to_seq: head_seq - 1000 },
    oldest_seq: head_seq - 999,
    newest_seq: head_seq,
    total_count: head_seq,
    is_complete: false,
  });
  const missed = await client.call('get_messages', {
    project_id,
    after_seq: 2,
    before_seq: full.oldest_seq,
    limit: 500,
  });
  expect(missed).toMatchObject({ oldest_seq: 3, newest_seq: head_seq - 1000, is_complete: true });

  const fresh = await (await fixture.client(one)).call('project_join', { project_id });
  expect([fresh.events.length, fresh.gap, fresh.is_complete]).toEqual([200, undefined, false]);

  const anchor = full.events.at(-4)!;
  const after = await client.call('project_join', { project_id, last_message_id: anchor.event_id });
  expect(after.events.map(({ seq }) => seq)).toEqual(range(head_seq - 2, head_seq));
  expect(after.is_complete).toBe(true);
  expect(await client.refusal('project_join', { project_id, last_message_id: newId() })).toMatchObject({
    code: 'message.not_found',
  });
  const ahead = await client.call('project_join', { project_id, since_seq: head_seq + 50 });
  expect([ahead.events.length, ahead.head_seq]).toEqual([200, head_seq]);
});

it('GW-26 keeps the answer of a join within a mebibyte, or within the limit of the client', async () => {
  const { project_id, run } = await working();
  for (let count = 0; count < 4; count += 1) await fixture.host.append(run, 1, 'y'.repeat(300 * 1024));
  const roomy = await (await fixture.client(one)).call('project_join', { project_id, since_seq: 0 });
  expect(roomy.events).toHaveLength(3);
  expect(roomy.gap).toBeDefined();
  const narrow = await (await fixture.client(one, { maxMessageKb: 50 })).call('project_join', { project_id });
  expect(narrow.events).toHaveLength(1);
  expect(String(narrow.events[0]?.payload['text'])).toMatch(/\[… \d+ bytes missing …\]/);
});

it('GW-30 cuts what it pushes to the limit of each client', async () => {
  const { project_id, run } = await working();
  const narrow = await fixture.client(one, { maxMessageKb: 50 });
  const roomy = await fixture.client(one);
  await narrow.call('project_join', { project_id });
  await roomy.call('project_join', { project_id });
  await fixture.host.append(run, 1, '😀'.repeat(30_000));
  const [cut, whole] = await Promise.all([narrow.waitFor('event'), roomy.waitFor('event')]);
  expect(String(whole.payload['text'])).toHaveLength(60_001);
  expect(Buffer.byteLength(JSON.stringify(cut.payload))).toBeLessThanOrEqual(50 * 1024);
  expect(String(cut.payload['text'])).toMatch(/^😀+\n\[… \d+ bytes missing …\]\n😀+0$/u);
});

const deltaOf = (projectId: string, runId: string, epoch: number, offset: number, text: string) => ({
  projectId,
  runId,
  epoch,
  messageId: 'msg_1',
  blockIndex: 0,
  blockType: 'text' as const,
  offset,
  text,
});

it('GW-28 passes live text on, drops what an older epoch says, and gives newcomers the text so far', async () => {
  const { project_id, run } = await working();
  const watcher = await fixture.client(two);
  await watcher.call('project_join', { project_id });
  const say = (epoch: number, offset: number, text: string) =>
    fixture.host.bus.publish(project_id, { kind: 'delta', delta: deltaOf(project_id, run.runId, epoch, offset, text) });
  say(1, 0, 'Hel');
  say(2, 0, 'Hello');
  say(1, 3, 'p!');
  say(2, 5, ' world');
  await fixture.host.bus.savePartial(project_id, run.runId, [deltaOf(project_id, run.runId, 2, 0, 'Hello world')]);
  await watcher.waitFor('delta', ({ text }) => text === ' world');
  expect(watcher.all('delta').map(({ offset, text }) => [offset, text])).toEqual([
    [0, 'Hel'],
    [0, 'Hello'],
    [5, ' world'],
  ]);
  const { live } = await (await fixture.client(one)).call('project_join', { project_id });
  expect(live).toEqual([expect.objectContaining({ offset: 0, text: 'Hello world', run_id: run.runId })]);
});

it('GW-29 tells watchers of the queue, each revision at most once and only forwards', async () => {
  const { project_id, run } = await working();
  const watcher = await fixture.client(two);
  const { queue } = await watcher.call('project_join', { project_id });
  const behind = await client.call('execute', { project_id, prompt: 'next' });
  await watcher.waitFor('queue_changed', ({ lanes }) => lanes.some(({ queued }) => queued.length === 1));
  await fixture.host.finish(run);
  await watcher.waitFor('queue_changed', ({ lanes }) => lanes[0]?.active_run_id === behind.run_id);
  const revisions = watcher.all('queue_changed').map(({ revision }) => revision);
  expect(revisions[0]).toBeGreaterThan(queue.revision);
  expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
});

it('GW-29 tells of the queue also when that word was lost', async () => {
  const { project_id, run } = await working();
  const { run_id } = await client.call('execute', { project_id, prompt: 'next' });
  const watcher = await fixture.client(two);
  await watcher.call('project_join', { project_id });
  fixture.host.silent = true;
  await fixture.host.finish(run);
  await watcher.waitFor('queue_changed', ({ lanes }) => lanes[0]?.active_run_id === run_id);
});

it('GW-40 takes the first answer to a question and tells the others who gave it', async () => {
  const { project_id } = await fixture.project(client);
  const { run_id } = await client.call('execute', { project_id, prompt: 'may I' });
  const run = await fixture.host.claim(run_id);
  const editor = await fixture.client(two, await fixture.user({ projectId: project_id, role: 'editor' }));
  await editor.call('project_join', { project_id });
  await fixture.host.startProcess(run).then(async (writer) => {
    const opened = await fixture.host.execution.openPermission({
      runId: run.runId,
      runEpoch: run.epoch,
      requestId: newId(),
      processId: writer.processId,
      toolUseId: 'toolu_1',
      toolName: 'Bash',
      input: { command: 'rm -r build' },
      inputHash: 'hash-1',
      suggestions: [],
    });
    await fixture.host.tell(opened);
  });
  const asked = await editor.waitFor('event', ({ type }) => type === 'permission.requested');
  const request_id = String(asked.payload['request_id']);
  const { permissions } = await client.call('project_join', { project_id });
  expect(permissions).toEqual([expect.objectContaining({ request_id, tool_name: 'Bash', input_hash: 'hash-1' })]);

  const respond = (who: SocketClient, behavior: 'allow' | 'deny', input_hash = 'hash-1') =>
    who.call('permission_respond', { request_id, input_hash, behavior });
  await expect(respond(editor, 'allow', 'another')).rejects.toMatchObject({ code: 'permission.input_mismatch' });
  const first = await respond(editor, 'deny');
  const second = await respond(client, 'allow');
  expect([first.first, second.first]).toEqual([true, false]);
  expect(second).toMatchObject({ behavior: 'deny', answered_by: first.answered_by });
  expect(first.answered_by?.user_id).toBe(editor.hello.user.user_id);
  const closed = await editor.waitFor('event', ({ type }) => type === 'permission.closed');
  expect(closed.payload).toMatchObject({ status: 'answered', behavior: 'deny', answered_by: first.answered_by });
});

it('GW-50 marks a question that it cut and gives it whole when asked', async () => {
  const { project_id } = await fixture.project(client);
  const { run_id } = await client.call('execute', { project_id, prompt: 'may I' });
  const run = await fixture.host.claim(run_id);
  const narrow = await fixture.client(two, { maxMessageKb: 50 });
  await narrow.call('project_join', { project_id });
  const input = { command: `echo ${'x'.repeat(60_000)}; rm -r build; echo ${'y'.repeat(60_000)}` };
  const { processId } = await fixture.host.startProcess(run);
  const asking = {
    runId: run.runId,
    runEpoch: run.epoch,
    processId,
    toolName: 'Bash',
    suggestions: [{ rules: [input] }],
  };
  await fixture.host.tell(
    await fixture.host.execution.openPermission({
      ...{ ...asking, requestId: newId(), toolUseId: 'toolu_1', input, inputHash: 'hash-1' },
    }),
  );
  const { payload } = await narrow.waitFor('event', ({ type }) => type === 'permission.requested');
  expect(Buffer.byteLength(JSON.stringify(payload))).toBeLessThanOrEqual(50 * 1024);
  const [joined] = (await narrow.call('project_join', { project_id })).permissions;
  const { messages } = await narrow.call('get_messages', { project_id });
  const told = messages.find(({ type }) => type === 'permission.requested')?.payload;
  for (const cut of [payload, joined, told]) {
    expect(cut).toMatchObject({ tool_name: 'Bash', tool_use_id: 'toolu_1', truncated: true, suggestions: [] });
    expect(cut).not.toHaveProperty('input_hash');
    expect(JSON.stringify(cut)).toContain('bytes missing');
  }
  const request_id = String(payload['request_id']);
  const whole = await narrow.call('permission_get', { request_id });
  expect(whole).toMatchObject({ input, input_hash: 'hash-1', tool_use_id: 'toolu_1', suggestions: asking.suggestions });
  expect(whole.truncated).toBeUndefined();
  const [roomy] = (await client.call('project_join', { project_id })).permissions;
  expect(roomy).toEqual(whole);
  await narrow.call('permission_respond', { request_id, input_hash: whole.input_hash ?? '', behavior: 'allow' });
});

it('GW-32 makes a client that fell too far behind join again, and serves the others', async () => {
  const slow = await fixture.gateway({ tuning: { tickMs: 3_600_000 } });
  const { project_id, run } = await working();
  const watcher = await fixture.client(slow);
  const { head_seq } = await watcher.call('project_join', { project_id });
  fixture.host.silent = true;
  await fixture.host.append(run, 1500);
  fixture.host.silent = false;
  await fixture.host.append(run, 1);
  await watcher.waitFor(
    'server_notice',
    (notice) => notice.code === 'resync_required' && notice.project_id === project_id,
  );
  const again = await watcher.call('project_join', { project_id, since_seq: head_seq });
  expect(again.head_seq).toBe(head_seq + 1501);
  await fixture.host.append(run, 1);
  await watcher.waitFor('event', ({ seq }) => seq === head_seq + 1502);
});

it('GW-8 throws nothing away when a refused join follows a good one', async () => {
  const { project_id } = await working();
  const watcher = await fixture.client(one);
  await watcher.call('project_join', { project_id });
  await expect(watcher.call('project_join', { project_id: newId() })).rejects.toMatchObject({
    code: 'project.not_found',
  });
  await client.call('project_update', { project_id, name: 'still heard' });
  await watcher.waitFor('event', ({ payload }) => payload['name'] === 'still heard');
});
