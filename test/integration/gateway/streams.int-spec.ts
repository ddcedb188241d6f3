// Output of commands: live by offset with credit, and stored by range.
import { randomBytes } from 'node:crypto';
import { newId } from '#kernel';
import type { SocketClient } from '#testing';
import { type CommandWriter, GatewayFixture, type RunningGateway } from './gateway-fixture.js';

let fixture: GatewayFixture;
let gateway: RunningGateway;
let client: SocketClient;

beforeAll(async () => {
  fixture = await GatewayFixture.create();
  gateway = await fixture.gateway();
  client = await fixture.client(gateway);
});
afterEach(() => {
  fixture.host.silent = false;
});
afterAll(() => fixture.close());

/** A command that a worker runs, and the hand that writes its output. */
async function command(project_id?: string) {
  const project = project_id ?? (await fixture.project(client)).project_id;
  const { run_id, command_session_id } = await client.call('execute_command', {
    project_id: project,
    command: ['make', 'all'],
    parallel: true,
  });
  const run = await fixture.host.claim(run_id);
  const writer: CommandWriter = await fixture.host.startProcess(run);
  return { project_id: project, run, run_id, command_session_id, writer };
}

const received = (watcher: SocketClient, streamId: string) => {
  const pushes = watcher.all('stream_data').filter(({ stream_id }) => stream_id === streamId);
  for (const [index, push] of pushes.entries()) {
    const before = pushes[index - 1];
    if (before !== undefined) expect(push.offset).toBe(before.offset + before.data.byteLength);
  }
  return Buffer.concat(pushes.map(({ data }) => Buffer.from(data)));
};

it('GW-34, GW-35 streams both channels in order, as they are written, and ends once', async () => {
  const { run, run_id, writer } = await command();
  await writer.write('before ');
  const watcher = await fixture.client(gateway);
  expect(await watcher.call('stream_subscribe', { stream_id: run_id })).toEqual({
    stream_id: run_id,
    start_offset: 0,
    head_offset: 7,
    truncated: false,
    ended: false,
  });
  await writer.write('out ');
  await writer.write('err ', 'stderr');
  await writer.write('out again');
  await fixture.host.finish(run, 3);
  expect(await watcher.waitFor('stream_end')).toEqual({
    stream_id: run_id,
    end_offset: 24,
    exit_code: 3,
    reason: 'succeeded',
  });
  expect(received(watcher, run_id).toString()).toBe('before out err out again');
  expect(watcher.all('stream_data').filter(({ channel }) => channel === 'stderr')).toHaveLength(1);
  await watcher.call('ping', {});
  expect(watcher.all('stream_end')).toHaveLength(1);
  // The last acknowledgement crosses the end on its way.
  await watcher.call('stream_ack', { stream_id: run_id, acked_offset: 24 });
  await watcher.call('stream_unsubscribe', { stream_id: run_id });
  expect(await watcher.refusal('stream_ack', { stream_id: run_id, acked_offset: 24 })).toMatchObject({
    code: 'stream.not_subscribed',
  });
});

it('GW-34 makes room for new streams by forgetting those that ended', async () => {
  const { project_id } = await fixture.project(client);
  const { run, run_id } = await command(project_id);
  await fixture.host.finish(run);
  const watcher = await fixture.client(gateway);
  await watcher.call('stream_subscribe', { stream_id: run_id });
  await watcher.waitFor('stream_end');
  const queued = await Promise.all(
    Array.from({ length: 100 }, (_, index) => client.call('execute_command', { project_id, command: `echo ${index}` })),
  );
  for (const { run_id: stream_id } of queued) await watcher.call('stream_subscribe', { stream_id });
  const { run_id: last } = await client.call('execute_command', { project_id, command: 'true' });
  expect(await watcher.refusal('stream_subscribe', { stream_id: last })).toMatchObject({
    code: 'connection.limit_reached',
    details: { max_streams: 100 },
  });
});

it('GW-34 sends no more than the window beyond what was acknowledged', async () => {
  const { run, run_id, writer } = await command();
  const bytes = randomBytes(200_000);
  for (let at = 0; at < bytes.length; at += 50_000) await writer.write(bytes.subarray(at, at + 50_000));
  const watcher = await fixture.client(gateway);
  await watcher.call('stream_subscribe', { stream_id: run_id, window_bytes: 65_536 });
  const size = () => received(watcher, run_id).length;
  await watcher.until(() => size() === 65_536, 'the first window');
  await watcher.call('ping', {});
  expect(size()).toBe(65_536);
  expect(await watcher.refusal('stream_ack', { stream_id: run_id, acked_offset: 65_537 })).toMatchObject({
    code: 'stream.offset_invalid',
    details: { sent_offset: 65_536 },
  });
  await fixture.host.finish(run);
  while (watcher.all('stream_end').length === 0) {
    const sent = size();
    await watcher.call('stream_ack', { stream_id: run_id, acked_offset: sent });
    await watcher.until(() => size() > sent || watcher.all('stream_end').length > 0, 'more');
    expect(size() - sent).toBeLessThanOrEqual(65_536);
  }
  expect(received(watcher, run_id).equals(bytes)).toBe(true);
});

it('GW-34 goes on from an offset after a reconnection at another gateway', async () => {
  const other = await fixture.gateway();
  const { run, run_id, writer } = await command();
  const bytes = randomBytes(120_000);
  await writer.write(bytes.subarray(0, 60_000));
  const first = await fixture.client(gateway);
  await first.call('stream_subscribe', { stream_id: run_id });
  await first.until(() => received(first, run_id).length === 60_000, 'the first half');
  first.close();
  await writer.write(bytes.subarray(60_000));
  await fixture.host.finish(run);
  const second = await fixture.client(other);
  const answer = await second.call('stream_subscribe', { stream_id: run_id, from_offset: 45_678 });
  expect(answer).toMatchObject({ start_offset: 45_678, head_offset: 120_000, ended: true });
  await second.waitFor('stream_end');
  expect(received(second, run_id).equals(bytes.subarray(45_678))).toBe(true);
  expect(await second.refusal('stream_subscribe', { stream_id: run_id, from_offset: 120_001 })).toMatchObject({
    code: 'stream.offset_invalid',
    details: { head_offset: 120_000 },
  });
});

it('GW-25, GW-35 finds output and end that the bus lost', async () => {
  const { run, run_id, writer } = await command();
  const watcher = await fixture.client(gateway);
  await watcher.call('stream_subscribe', { stream_id: run_id });
  fixture.host.silent = true;
  await writer.write('unheard');
  await watcher.until(() => received(watcher, run_id).toString() === 'unheard', 'lost output');
  await fixture.host.finish(run);
  expect(await watcher.waitFor('stream_end')).toMatchObject({ end_offset: 7, exit_code: 0 });
});

it('GW-30 splits binary data to the limit of the client', async () => {
  const { run, run_id, writer } = await command();
  await writer.write(randomBytes(150_000));
  await fixture.host.finish(run);
  const narrow = await fixture.client(gateway, { maxMessageKb: 50 });
  await narrow.call('stream_subscribe', { stream_id: run_id });
  await narrow.waitFor('stream_end');
  const sizes = narrow.all('stream_data').map(({ data }) => data.byteLength);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(50 * 1024);
  expect(received(narrow, run_id)).toHaveLength(150_000);
});

it('GW-35 ends a subscription with stream_unsubscribe, and starts anew when asked again', async () => {
  const { run_id, writer } = await command();
  await writer.write('0123456789');
  const watcher = await fixture.client(gateway);
  await watcher.call('stream_subscribe', { stream_id: run_id });
  await watcher.until(() => received(watcher, run_id).length === 10, 'ten bytes');
  await watcher.call('stream_unsubscribe', { stream_id: run_id });
  expect(await watcher.refusal('stream_unsubscribe', { stream_id: run_id })).toMatchObject({
    code: 'stream.not_subscribed',
  });
  await writer.write('unheard');
  await watcher.call('stream_subscribe', { stream_id: run_id, from_offset: 17 });
  await writer.write('heard');
  await watcher.waitFor('stream_data', ({ offset }) => offset === 17);
  expect(watcher.all('stream_data').map(({ data }) => Buffer.from(data).toString())).toEqual(['0123456789', 'heard']);
});

it('GW-36 knows streams of commands only', async () => {
  const { project_id } = await fixture.project(client);
  const { run_id } = await client.call('execute', { project_id, prompt: 'x' });
  for (const stream_id of [run_id, newId(), project_id]) {
    expect(await client.refusal('stream_subscribe', { stream_id })).toMatchObject({ code: 'stream.not_found' });
  }
  expect(await client.refusal('get_command_output', { command_session_id: `cmd-${run_id}` })).toMatchObject({
    code: 'run.not_found',
  });
});

it('GW-8 gives a stream only to those with a role in its project', async () => {
  const { run_id, project_id } = await command();
  const stranger = await fixture.client(gateway, await fixture.user());
  const viewer = await fixture.client(gateway, await fixture.user({ projectId: project_id, role: 'viewer' }));
  expect(await stranger.refusal('stream_subscribe', { stream_id: run_id })).toMatchObject({ code: 'stream.not_found' });
  expect((await viewer.call('stream_subscribe', { stream_id: run_id })).ended).toBe(false);
});

it('GW-37 gives stored output page by page, cut between characters', async () => {
  const { run, command_session_id, writer } = await command();
  const text = 'grün 😀 €uro\n'.repeat(500);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 333) await writer.write(bytes.subarray(at, at + 333));
  const begun = await client.call('get_command_output', { command_session_id });
  expect(begun).toMatchObject({
    output: text,
    is_complete: false,
    shell_command: 'make all',
    working_directory: '/workspace',
  });
  await fixture.host.finish(run, 1);
  let joined = '';
  for (let from_offset = 0, complete = false; !complete;) {
    const page = await client.call('get_command_output', { command_session_id, from_offset, max_bytes: 1000 });
    expect(page.output).not.toContain('\ufffd');
    joined += page.output;
    from_offset = page.next_offset;
    complete = page.is_complete;
  }
  expect(joined).toBe(text);
  expect(await client.call('get_command_output', { command_session_id })).toMatchObject({
    exit_code: 1,
    is_complete: true,
    next_offset: bytes.length,
  });
});

it('GW-38 lists commands newest first with the beginning of their output', async () => {
  const { project_id } = await fixture.project(client);
  const first = await command(project_id);
  await first.writer.write(`${'head '.repeat(100)}tail`);
  await fixture.host.finish(first.run, 2);
  const elsewhere = await client.call('execute_command', { project_id, command: 'ls', working_directory: 'src' });
  const { sessions } = await client.call('get_command_history', { project_id });
  expect(sessions).toEqual([
    expect.objectContaining({ run_id: elsewhere.run_id, working_directory: '/workspace/src', output_preview: '' }),
    expect.objectContaining({ run_id: first.run_id, exit_code: 2, status: 'succeeded', is_complete: true }),
  ]);
  expect(sessions[1]?.output_preview).toHaveLength(200);
  const filtered = await client.call('get_command_history', { project_id, working_directory: '/workspace/src' });
  expect(filtered.sessions.map(({ run_id }) => run_id)).toEqual([elsewhere.run_id]);
});

it('GW-35 ends the stream of a project that is deleted', async () => {
  const { project_id, run, run_id, writer } = await command();
  await writer.write('bytes');
  const watcher = await fixture.client(gateway);
  await watcher.call('stream_subscribe', { stream_id: run_id, window_bytes: 4096 });
  await watcher.until(() => received(watcher, run_id).length === 5, 'the bytes');
  fixture.host.silent = true;
  await fixture.host.finish(run);
  await client.call('project_delete', { project_id });
  expect(await watcher.waitFor('stream_end')).toMatchObject({ end_offset: 5 });
});
