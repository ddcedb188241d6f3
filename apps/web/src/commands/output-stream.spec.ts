// Following the output of a command over losses and holes.
import { ScriptedConnection } from '../connection/scripted-connection.js';
import { clientProblem, ProblemError } from '../state/problem.js';
import { idOf } from '../state/sample-run.js';
import { OutputStream } from './output-stream.js';
import { screenText } from './screen.js';

const RUN = idOf(1);
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('OutputStream', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  let truncated = false;
  let failure: Error | undefined;
  function follow(fromOffset = 0) {
    truncated = false;
    failure = undefined;
    const connection = new ScriptedConnection(({ event, payload }) => {
      if (failure !== undefined) throw failure;
      const start = payload['from_offset'];
      return event === 'stream_subscribe'
        ? { stream_id: RUN, start_offset: start, head_offset: 0, truncated, ended: false }
        : {};
    });
    const stream = new OutputStream(connection, RUN, fromOffset);
    const stop = stream.follow();
    const data = (offset: number, text: string): void =>
      connection.push('stream_data', { stream_id: RUN, offset, channel: 'stdout', data: encode(text) });
    const end = (offset: number): void =>
      connection.push('stream_end', { stream_id: RUN, end_offset: offset, exit_code: 0, reason: 'exited' });
    const shown = (): string => screenText(stream.state.get().view.screen);
    const subscriptions = (): unknown[] =>
      connection.payloads('stream_subscribe').map((payload) => payload['from_offset']);
    return { connection, stream, stop, data, end, shown, subscriptions };
  }
  const pass = async (): Promise<void> => jest.advanceTimersByTimeAsync(100).then(() => undefined);

  it('shows what comes, from any kind of buffer, and how it ended', async () => {
    const { connection, stream, data, end, shown } = follow();
    connection.connect();
    await pass();
    data(0, 'one ');
    const bytes = encode('two');
    connection.push('stream_data', { stream_id: RUN, offset: 4, channel: 'stderr', data: bytes.buffer as never });
    connection.push('stream_data', { stream_id: idOf(2), offset: 0, channel: 'stdout', data: encode('of another') });
    end(7);
    await pass();
    expect(shown()).toBe('one two');
    expect(stream.state.get().view.end).toEqual({ exitCode: 0, reason: 'exited' });
  });

  it('WEB-24 goes on at the next byte after a lost connection', async () => {
    const { connection, data, shown, subscriptions } = follow();
    connection.connect();
    await pass();
    data(0, 'abc');
    connection.lose();
    connection.connect();
    await pass();
    data(1, 'bcdef');
    await pass();
    expect([shown(), subscriptions()]).toEqual(['abcdef', [0, 3]]);
  });

  it('WEB-24 asks once more for bytes that are missing', async () => {
    const { connection, data, end, shown, subscriptions } = follow();
    connection.connect();
    await pass();
    data(0, 'ab');
    data(5, 'fg');
    end(7);
    await pass();
    expect([shown(), subscriptions()]).toEqual(['ab', [0, 2]]);
    data(2, 'cdefg');
    end(7);
    await pass();
    expect(shown()).toBe('abcdefg');
  });

  it('WEB-24 takes bytes that are missing twice for not kept', async () => {
    const { connection, stream, data, end, shown, subscriptions } = follow();
    connection.connect();
    await pass();
    data(0, 'ab');
    data(5, 'fg');
    await pass();
    data(5, 'fg');
    end(7);
    await pass();
    expect([shown(), subscriptions()]).toEqual(['abfg', [0, 2]]);
    expect(stream.state.get().view).toMatchObject({ skippedBytes: 3, end: { exitCode: 0 } });
  });

  it('WEB-24 does not ask again for what the server says it does not keep', async () => {
    const { connection, data, shown, subscriptions } = follow();
    truncated = true;
    connection.connect();
    await pass();
    data(1000, 'tail');
    await pass();
    expect([shown(), subscriptions()]).toEqual(['tail', [0]]);
  });

  it('RET-2 passes over what the server says it does not keep, and asks for nothing', async () => {
    const { connection, stream, data, end, shown, subscriptions } = follow();
    connection.connect();
    await pass();
    data(0, 'head');
    connection.push('stream_gap', { stream_id: RUN, from_offset: 4, to_offset: 1000, reason: 'cut' });
    data(1000, 'tail');
    end(1004);
    await pass();
    expect([shown(), subscriptions()]).toEqual(['headtail', [0]]);
    expect(stream.state.get().view).toMatchObject({ skippedBytes: 996, nextOffset: 1004, end: { exitCode: 0 } });
  });

  it('WEB-25 acknowledges every quarter of the window', async () => {
    const { connection, data } = follow();
    connection.connect();
    await pass();
    const piece = 'x'.repeat(32 * 1024);
    for (let at = 0; at < 8; at += 1) {
      data(at * piece.length, piece);
      await pass();
    }
    const acked = connection.payloads('stream_ack').map(({ acked_offset: offset }) => offset);
    expect(acked).toEqual([2, 4, 6, 8].map((pieces) => pieces * piece.length));
  });

  it('shows why it could not subscribe', async () => {
    const { connection, stream } = follow();
    failure = new ProblemError({ ...clientProblem('client.no_answer'), code: 'stream.not_found' });
    connection.connect();
    await pass();
    expect(stream.state.get().problem).toMatchObject({ code: 'stream.not_found' });
  });

  it('has one subscription however many follow it, and none when nobody does', async () => {
    const { connection, stream, stop, subscriptions } = follow();
    connection.connect();
    const stopOther = stream.follow();
    await pass();
    stop();
    stop();
    expect(stream.isFollowed).toBe(true);
    stopOther();
    await pass();
    expect([subscriptions(), connection.payloads('stream_unsubscribe')]).toEqual([[0], [{ stream_id: RUN }]]);
    stream.follow();
    await pass();
    expect(subscriptions()).toEqual([0, 0]);
  });

  it('shows everything from the beginning when it is asked to', async () => {
    const { connection, stream, data, end, shown, subscriptions } = follow(6);
    connection.connect();
    await pass();
    data(6, 'tail');
    end(10);
    await pass();
    expect([shown(), stream.state.get().view.skippedBytes]).toEqual(['tail', 6]);
    await stream.restart(0);
    data(0, 'whole tail');
    end(10);
    await pass();
    expect([shown(), subscriptions(), stream.state.get().view.skippedBytes]).toEqual(['whole tail', [6, 0], 0]);
  });
});
