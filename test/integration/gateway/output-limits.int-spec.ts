// Output of which something is missing, and messages that are larger than a client takes at once.
import { newId } from '#kernel';
import { PgRetentionStore } from '#persistence';
import type { SocketClient } from '#testing';
import { GatewayFixture, type RunningGateway } from './gateway-fixture.js';

const CAP = 100_000;

let fixture: GatewayFixture;
let gateway: RunningGateway;
let client: SocketClient;
let project_id: string;

beforeAll(async () => {
  fixture = await GatewayFixture.create();
  gateway = await fixture.gateway();
  client = await fixture.client(gateway);
  ({ project_id } = await fixture.project(client));
});
afterAll(() => fixture.close());

/** A command that wrote `text`, of which CAP bytes are kept. */
async function written(text: string) {
  const { run_id, command_session_id } = await client.call('execute_command', {
    project_id,
    command: 'x',
    parallel: true,
  });
  const run = await fixture.host.claim(run_id);
  const writer = await fixture.host.startProcess(run, { maxOutputBytes: CAP });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 70_000) await writer.write(bytes.subarray(at, at + 70_000));
  await fixture.host.finish(run);
  return { run_id, command_session_id, bytes };
}

async function wholeText(command_session_id: string) {
  const gaps: unknown[] = [];
  let [text, from_offset, pages] = ['', 0, 0];
  for (let complete = false; !complete; pages += 1) {
    const page = await client.call('get_command_output', { command_session_id, from_offset, max_bytes: 30_000 });
    text += page.output;
    if (page.gap !== undefined) gaps.push(page.gap);
    [from_offset, complete] = [page.next_offset, page.is_complete];
  }
  return { text, gaps, pages };
}

it('RET-2, RET-1 a stream of an output that was cut gives its first and its last half, and one gap', async () => {
  const { run_id, bytes } = await written('0123456789'.repeat(300_000));
  const gap = { from_offset: CAP / 2, to_offset: bytes.length - CAP / 2, reason: 'cut' };
  const viewer = await fixture.client(gateway);
  expect(await viewer.call('stream_subscribe', { stream_id: run_id })).toMatchObject({
    truncated: true,
    gap,
    ended: true,
  });
  expect(await viewer.waitFor('stream_end')).toMatchObject({ end_offset: bytes.length });
  expect(viewer.all('stream_gap')).toEqual([{ stream_id: run_id, ...gap }]);
  const got = viewer.all('stream_data').map(({ offset, data }) => [offset, Buffer.from(data)] as const);
  expect(Buffer.concat(got.map(([, data]) => data))).toEqual(
    Buffer.concat([bytes.subarray(0, CAP / 2), bytes.subarray(bytes.length - CAP / 2)]),
  );
  expect(got.every(([offset, data]) => bytes.subarray(offset, offset + data.length).equals(data))).toBe(true);
  await viewer.call('stream_subscribe', { stream_id: run_id, from_offset: 1_000_000 });
  expect(await viewer.waitFor('stream_gap', ({ from_offset }) => from_offset === 1_000_000)).toMatchObject({
    to_offset: gap.to_offset,
  });
  expect((await client.call('run_get', { run_id })).output_truncated).toBe(true);
});

it('RET-3 text of an output that was cut has one marker, no half characters, and few pages', async () => {
  const { command_session_id, bytes } = await written('€'.repeat(1_000_000));
  const { text, gaps, pages } = await wholeText(command_session_id);
  const [first, last] = [Math.floor(CAP / 2 / 3), Math.floor(CAP / 2 / 3)];
  const missing = bytes.length - (first + last) * 3;
  expect(text).toBe(`${'€'.repeat(first)}\n[… ${missing} bytes left out …]\n${'€'.repeat(last)}`);
  expect(gaps).toEqual([{ from_offset: first * 3, to_offset: bytes.length - last * 3, reason: 'cut' }]);
  expect(pages).toBeLessThan(8);
});

it('RET-5 output that has expired is said to have expired', async () => {
  const { run_id, command_session_id, bytes } = await written('old '.repeat(1_000));
  await fixture.database.db.client.run.update({ where: { id: run_id }, data: { finishedAt: new Date(0) } });
  await new PgRetentionStore(fixture.database.db).expireOld(fixture.host.lease.hostId, { outputDays: 7 }, 100);
  const gap = { from_offset: 0, to_offset: bytes.length, reason: 'expired' };
  const viewer = await fixture.client(gateway);
  expect(await viewer.call('stream_subscribe', { stream_id: run_id })).toMatchObject({ truncated: true, gap });
  expect(await viewer.waitFor('stream_end')).toMatchObject({ end_offset: bytes.length });
  expect(viewer.all('stream_gap')).toEqual([{ stream_id: run_id, ...gap }]);
  expect(await wholeText(command_session_id)).toEqual({
    text: '\n[… 4000 bytes left out: the output has expired …]\n',
    gaps: [gap],
    pages: 1,
  });
  const { sessions } = await client.call('get_command_history', { project_id });
  expect(sessions.find((session) => session.run_id === run_id)).toMatchObject({ output_preview: '' });
});

it('RET-10 message_get gives a message whole, by range, whatever limit the client set for messages', async () => {
  const { run_id } = await client.call('execute_command', { project_id, command: 'x', parallel: true });
  const text = 'aé€😀"\n'.repeat(20_000);
  await fixture.host.append(await fixture.host.claim(run_id), 1, text);
  const narrow = await fixture.client(gateway, { maxMessageKb: 50 });
  const { messages } = await narrow.call('get_messages', { project_id, limit: 1 });
  const message = messages[0]!;
  expect(JSON.stringify(message.payload)).toMatch(/bytes missing/);
  let [json, from_byte] = ['', 0];
  for (let complete = false; !complete;) {
    const page = await narrow.call('message_get', {
      project_id,
      event_id: message.event_id,
      from_byte,
      max_bytes: 10_001,
    });
    expect(Buffer.byteLength(page.text)).toBeLessThanOrEqual(10_001);
    expect(page.from_byte).toBe(from_byte);
    json += page.text;
    [from_byte, complete] = [page.next_byte, page.is_complete];
  }
  expect(JSON.parse(json)).toEqual({ subtype: 'test', text: `${text}0` });
  const inside = Buffer.from(json).indexOf('€') + 1;
  const page = await client.call('message_get', { project_id, event_id: message.event_id, from_byte: inside });
  expect(page.from_byte).toBe(inside + 2);
  expect(page.text.startsWith('😀')).toBe(true);
});

it('RET-10 refuses a message of another project, and a range behind the end', async () => {
  const other = await fixture.project(client);
  const { messages } = await client.call('get_messages', { project_id, limit: 1 });
  const event_id = messages[0]!.event_id;
  expect(await client.refusal('message_get', { project_id: other.project_id, event_id })).toMatchObject({
    code: 'message.not_found',
  });
  expect(await client.refusal('message_get', { project_id, event_id: newId() })).toMatchObject({
    code: 'message.not_found',
  });
  expect(await client.refusal('message_get', { project_id, event_id, from_byte: 1_000_000_000 })).toMatchObject({
    code: 'stream.offset_invalid',
  });
});
