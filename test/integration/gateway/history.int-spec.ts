// What was, by sequence number, by time and by conversation.
import { newId } from '#kernel';
import type { SocketClient } from '#testing';
import { GatewayFixture, type RunningGateway } from './gateway-fixture.js';

let fixture: GatewayFixture;
let gateway: RunningGateway;
let client: SocketClient;
let project_id: string;
let head: number;

beforeAll(async () => {
  fixture = await GatewayFixture.create();
  gateway = await fixture.gateway();
  client = await fixture.client(gateway, { clientId: 'browser-1' });
  ({ project_id } = await fixture.project(client));
  const { run_id } = await client.call('execute_command', { project_id, command: 'x' });
  await fixture.host.append(await fixture.host.claim(run_id), 60);
  head = (await client.call('project_join', { project_id })).head_seq;
});
afterAll(() => fixture.close());

const seqsOf = async (query: Record<string, unknown>) => {
  const page = await client.call('get_messages', { project_id, ...query });
  const seqs = page.messages.map(({ seq }) => seq);
  expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
  expect([page.oldest_seq, page.newest_seq, page.total_count]).toEqual([seqs[0] ?? 0, seqs.at(-1) ?? 0, head]);
  return { seqs, is_complete: page.is_complete };
};
const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index);

it('GW-38 gives the newest when nothing else is asked', async () => {
  expect(await seqsOf({})).toEqual({ seqs: range(head - 49, head), is_complete: false });
  expect(await seqsOf({ limit: 500 })).toEqual({ seqs: range(1, head), is_complete: true });
});

it('GW-38 pages forwards after a seq and backwards before one', async () => {
  expect(await seqsOf({ after_seq: 5, limit: 10 })).toEqual({ seqs: range(6, 15), is_complete: false });
  expect(await seqsOf({ after_seq: head, limit: 10 })).toEqual({ seqs: [], is_complete: true });
  expect(await seqsOf({ before_seq: 20, limit: 5 })).toEqual({ seqs: range(15, 19), is_complete: false });
  expect(await seqsOf({ after_seq: 10, before_seq: 20, limit: 50 })).toEqual({
    seqs: range(11, 19),
    is_complete: true,
  });
});

it('GW-38 gives what happened since a time', async () => {
  const { messages } = await client.call('get_messages', { project_id, after_seq: 0, limit: 500 });
  const since = messages.at(-1)!.created_at;
  const expected = messages.filter(({ created_at }) => created_at >= since).map(({ seq }) => seq);
  expect((await seqsOf({ since, limit: 500 })).seqs).toEqual(expected);
  expect(await client.refusal('get_messages', { project_id, since: 'yesterday' })).toMatchObject({
    code: 'request.invalid_payload',
  });
});

it('GW-38 gives one conversation alone', async () => {
  const other = await fixture.project(client);
  const first = await client.call('execute', { project_id: other.project_id, prompt: 'one' });
  await client.call('agent_new_session', { project_id: other.project_id });
  await client.call('execute', { project_id: other.project_id, prompt: 'two' });
  const { messages } = await client.call('get_messages', {
    project_id: other.project_id,
    session_id: first.session_id,
    after_seq: 0,
  });
  expect(new Set(messages.map(({ session_id }) => session_id))).toEqual(new Set([first.session_id]));
  expect(messages.map(({ payload }) => payload['text']).filter(Boolean)).toEqual(['one']);
});

it('GW-39 goes on where this client has read, and nobody else', async () => {
  await client.call('message_ack', { project_id, seq: head - 3 });
  await client.call('message_ack', { project_id, seq: 2 });
  const again = await fixture.client(gateway, { clientId: 'browser-1' });
  const joined = await again.call('project_join', { project_id });
  expect(joined.events.map(({ seq }) => seq)).toEqual(range(head - 2, head));
  const other = await fixture.client(gateway, { clientId: 'browser-2' });
  expect((await other.call('project_join', { project_id })).events).toHaveLength(head);
});

it('GW-39 refuses a read mark beyond the newest event, and one without a client_id', async () => {
  expect(await client.refusal('message_ack', { project_id, seq: head + 1000 })).toMatchObject({
    details: { fields: [expect.objectContaining({ path: 'seq' })] },
  });
  const anonymous = await fixture.client(gateway);
  expect(await anonymous.refusal('message_ack', { project_id, seq: 1 })).toMatchObject({
    details: { fields: [expect.objectContaining({ path: 'auth.client_id' })] },
  });
});

it('GW-38 shows counts and times in the list of projects', async () => {
  const fresh = await fixture.project(client, newId());
  await client.call('execute', { project_id: fresh.project_id, prompt: 'x' });
  await client.call('execute', { project_id: fresh.project_id, prompt: 'y' });
  const { projects } = await client.call('project_list', {});
  const listed = projects.find((project) => project.project_id === fresh.project_id);
  expect(listed).toMatchObject({ message_count: 2, queued_runs: 1, active_runs: 1 });
  expect(Date.parse(listed?.first_message_time ?? '')).toBeLessThanOrEqual(Date.parse(listed?.last_message_time ?? ''));
});
