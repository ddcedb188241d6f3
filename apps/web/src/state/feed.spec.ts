// What the feed shows of events.
import { addEvents, EMPTY_LOG } from './event-log.js';
import { durableFeed, partialFeed } from './feed.js';
import type { FeedItem } from './feed-item.js';
import { addDelta } from './partial-message.js';
import { splitWaiting } from './held-prompts.js';
import { withoutAnswered } from './retry-rows.js';
import {
  assistant,
  deltaOf,
  eventsOf,
  finished,
  idOf,
  PROJECT,
  queued,
  said,
  started,
  type Step,
  toolResult,
  USER,
} from './sample-run.js';

const feedOf = (...steps: Step[]): FeedItem[] => durableFeed(addEvents(EMPTY_LOG, eventsOf(steps)));
const asked = (run: number, text = `prompt ${run}`): Step => ({
  type: 'message.user',
  run,
  payload: { text, user_id: USER },
});
/** Texts of prompts and answers; of anything else the kind. */
const gist = (items: readonly FeedItem[]): string[] =>
  items.map((item) => (item.kind === 'user' || item.kind === 'text' ? item.text : item.kind));
const tool = { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } };
const retry = (run: number, attempt: number, status: number | null): Step => {
  const agent = { attempt, max_retries: 10, error_status: status, retry_delay_ms: 1200 };
  return { type: 'message.system', run, payload: { subtype: 'api_retry', agent } };
};
const result = (run: number, more: Record<string, unknown>): Step => ({
  type: 'message.result',
  run,
  payload: { subtype: 'success', is_error: false, cost_usd: 0.01, agent: {}, ...more },
});

describe('durableFeed', () => {
  it('WEB-39 shows of a queued prompt what it was changed to last, where it stands, and who changed it', () => {
    const edit = (run: number, text: string, userId = USER): Step => ({
      type: 'run.updated',
      run,
      payload: { text, title: text, user_id: userId, user_name: 'Ann' },
    });
    const steps = [asked(1), queued(1), started(1), asked(2), queued(2), edit(2, 'second'), said(1, 'm1', 0, 'one')];
    expect(gist(feedOf(...steps))).toEqual(['prompt 1', 'one', 'second']);
    const items = feedOf(...steps, edit(2, 'third', idOf(77)), finished(1), started(2), said(2, 'm2', 0, 'two'));
    expect(gist(items).filter((text) => text !== 'result')).toEqual(['prompt 1', 'one', 'third', 'two']);
    expect(items.find((item) => item.kind === 'user' && item.text === 'third')).toMatchObject({ editedBy: 'Ann' });
  });

  it('shows a conversation in order', () => {
    const items = feedOf(
      { type: 'session.created', payload: { session_id: idOf(9) } },
      { type: 'message.user', run: 1, payload: { text: 'Hi', user_id: USER } },
      queued(1),
      started(1),
      assistant(1, 'm', 0, { type: 'thinking', thinking: 'Hm' }, { type: 'text', text: 'Hello' }),
      result(1, {
        duration_ms: 1200,
        num_turns: 1,
        usage: { input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 5 },
      }),
      finished(1),
    );
    expect(items.map(({ kind }) => kind)).toEqual(['divider', 'user', 'thinking', 'text', 'result']);
    expect(items.at(-1)).toMatchObject({ durationMs: 1200, costUsd: 0.01, turns: 1, tokens: { input: 7, output: 5 } });
  });

  it('WEB-38 names who sent a prompt, as far as the server does', () => {
    const named = { ...asked(1), payload: { text: 'Hi', user_id: USER, user_name: 'Ada' } };
    expect(feedOf(named, started(1), asked(2), started(2))).toMatchObject([
      { kind: 'user', userId: USER, userName: 'Ada' },
      { kind: 'user', userId: USER, userName: undefined },
    ]);
  });

  it('WEB-36 shows a prompt where its run begins, not in the answer of the run ahead', () => {
    const ahead = [asked(1), queued(1), started(1), said(1, 'm', 0, 'first')];
    const behind = [asked(2), queued(2), said(1, 'm', 1, 'more'), finished(1)];
    const items = feedOf(...ahead, ...behind, started(2), said(2, 'n', 0, 'second'));
    expect(gist(items)).toEqual(['prompt 1', 'first', 'more', 'prompt 2', 'second']);
    const cancelled = { type: 'run.cancelled', run: 2, payload: { status: 'cancelled', kind: 'prompt' } };
    expect(gist(feedOf(...ahead, ...behind, cancelled))).toEqual(['prompt 1', 'first', 'more', 'prompt 2', 'end']);
  });

  it('WEB-36 keeps what waits below everything else, and with it the conversation that it begins', () => {
    const created = { type: 'session.created', payload: { session_id: idOf(9) } };
    const ahead = [asked(1), queued(1), started(1), said(1, 'm', 0, 'first')];
    const items = feedOf(...ahead, created, asked(2), queued(2), asked(3), queued(3), retry(1, 1, 503));
    expect(gist(items)).toEqual(['prompt 1', 'first', 'line', 'divider', 'prompt 2', 'prompt 3']);
    const { told, waiting } = splitWaiting(items, new Set([idOf(1)]));
    expect([gist(told), gist(waiting)]).toEqual([
      ['prompt 1', 'first', 'line'],
      ['divider', 'prompt 2', 'prompt 3'],
    ]);
    // Its own words are being written: it waits no more, although the page has not heard that it began.
    expect(gist(splitWaiting(items, new Set([idOf(2)])).told)).toEqual([
      ...['prompt 1', 'first', 'line', 'divider', 'prompt 2'],
    ]);
  });

  it('WEB-36 leaves a prompt of which nothing more is loaded before the events that are missing', () => {
    const events = eventsOf([
      asked(1),
      queued(1),
      started(1),
      asked(2),
      queued(2),
      asked(3),
      queued(3),
      finished(1),
      started(3),
    ]);
    const log = addEvents(
      EMPTY_LOG,
      events.filter(({ seq }) => seq !== 8),
    );
    expect(gist(durableFeed(log))).toEqual(['prompt 1', 'prompt 2', 'gap', 'prompt 3']);
  });

  it('WEB-10 makes one card of a tool call and its result, text or blocks', () => {
    const blocks = [{ type: 'text', text: 'a' }, { type: 'image' }, { type: 'text', text: 'b' }];
    const items = feedOf(queued(1), assistant(1, 'm', 0, tool), toolResult(1, 't1', blocks, true));
    expect(items).toMatchObject([
      { kind: 'tool', name: 'Bash', input: { command: 'ls' }, result: { text: 'a\nb', isError: true, otherParts: 1 } },
    ]);
  });

  it('WEB-10 shows a result whose call is not loaded, and a call whose run ended without one', () => {
    expect(feedOf(toolResult(1, 'elsewhere', 'x'))).toMatchObject([
      { kind: 'tool', input: undefined, result: { text: 'x' } },
    ]);
    expect(feedOf(assistant(1, 'm', 0, tool))).toMatchObject([{ kind: 'tool', result: undefined, over: false }]);
    expect(feedOf(assistant(1, 'm', 0, tool), finished(1, { status: 'cancelled' }))).toMatchObject([
      { kind: 'tool', result: undefined, over: true },
      { kind: 'end', status: 'cancelled' },
    ]);
  });

  it('WEB-11 tells of a failure once, by the end of the run if that says why', () => {
    const error = { code: 'agent.model_error', message: 'overloaded' };
    const failed = result(1, { is_error: true, subtype: 'error_during_execution', text: 'overloaded' });
    const told = feedOf(failed, finished(1, { status: 'failed', error }));
    expect(told).toMatchObject([
      { kind: 'result', failure: undefined },
      { kind: 'end', status: 'failed', error },
    ]);
    expect(feedOf(failed)).toMatchObject([{ kind: 'result', failure: { text: 'overloaded' } }]);
  });

  it('WEB-11 leaves out the agent’s own words about an error that the end of the run tells', () => {
    const words = assistant(1, 'synthetic', 0, { type: 'text', text: 'API Error: 400' });
    const agent = { ...(words.payload?.['agent'] as object), error: 'unknown' };
    const told = { ...words, payload: { ...words.payload, agent } };
    const failed = finished(1, { status: 'failed', error: { code: 'agent.model_error', message: 'API Error: 400' } });
    expect(feedOf(told, failed).map(({ kind }) => kind)).toEqual(['end']);
    expect(feedOf(told).map(({ kind }) => kind)).toEqual(['text']);
  });

  it('WEB-33 says the words of a failed result once, and does not call it done', () => {
    const words = 'API Error: 503 no healthy upstream';
    const failed = result(1, { is_error: true, text: words });
    expect(feedOf(said(1, 'm', 0, words), failed)).toMatchObject([
      { kind: 'result', ok: false, failure: { text: words } },
    ]);
    const end = finished(1, { status: 'failed', error: { code: 'agent.model_error', message: words } });
    expect(feedOf(said(1, 'm', 0, words), failed, end)).toMatchObject([
      { kind: 'result', ok: false, failure: undefined },
      { kind: 'end', error: { message: words } },
    ]);
    expect(feedOf(said(1, 'm', 0, 'Hello'), result(1, {}), finished(1))).toMatchObject([
      { kind: 'text' },
      { kind: 'result', ok: true, failure: undefined },
    ]);
  });

  it('WEB-32 shows of a row of retries the last: at the end while it goes on, in its place when it is over', () => {
    const lines = (items: readonly FeedItem[]): unknown[] =>
      items.map((item) =>
        item.kind === 'line' && item.line.of === 'retry' ? [item.line.retry.attempt, item.line.live] : item.kind,
      );
    const row = [retry(1, 1, 529), retry(1, 2, null)];
    expect(feedOf(...row)).toMatchObject([
      {
        key: `retry:${idOf(1)}`,
        line: { of: 'retry', live: true, retry: { status: undefined, attempt: 2, maxRetries: 10, delayMs: 1200 } },
      },
    ]);
    expect(lines(feedOf(...row, said(1, 'm', 0, 'Hi'), retry(1, 1, 503)))).toEqual([[2, false], 'text', [1, true]]);
    expect(lines(feedOf(...row, finished(1)))).toEqual([[2, false]]);
    expect(lines(feedOf(retry(1, 1, 503), queued(2), retry(1, 2, 503)))).toEqual([[2, true]]);
  });

  it('WEB-32 takes the line away when text arrives', () => {
    const items = feedOf(said(1, 'm', 0, 'Hi'), retry(1, 1, 503));
    expect(withoutAnswered(items, new Set([idOf(2)]))).toBe(items);
    expect(withoutAnswered(items, new Set([idOf(1)])).map(({ kind }) => kind)).toEqual(['text']);
  });

  it('WEB-12 passes over what it does not know and names what it cannot read', () => {
    const items = feedOf({ type: 'something.new', payload: { a: 1 } }, { type: 'message.user', payload: { words: 1 } });
    expect(items).toMatchObject([{ kind: 'line', line: { of: 'unreadable', type: 'message.user' } }]);
  });

  it('says which model answers once, not before every turn', () => {
    const init = (model: string): Step => {
      const payload = { subtype: 'init', agent: { model, permissionMode: 'default' } };
      return { type: 'message.system', run: 1, payload };
    };
    const items = feedOf(init('a'), init('a'), init('b'));
    expect(items).toMatchObject([{ line: { of: 'init', model: 'a' } }, { line: { of: 'init', model: 'b' } }]);
  });

  it('shows a command once, and its end only when its card cannot', () => {
    const begun = {
      type: 'command.started',
      run: 1,
      payload: { shell_command: 'ls', working_directory: '/w', user_id: USER },
    };
    const failed = finished(1, { kind: 'command', status: 'failed', exit_code: 2 });
    expect(feedOf(queued(1, 'command'), begun, failed)).toMatchObject([{ kind: 'command', runId: idOf(1) }]);
    const cancelled = { type: 'run.cancelled', run: 1, payload: { status: 'cancelled', kind: 'command' } };
    expect(feedOf(queued(1, 'command'), cancelled)).toMatchObject([
      { kind: 'end', runKind: 'command', status: 'cancelled' },
    ]);
  });

  it('WEB-10, WEB-16 says that a tool waits for an answer, and how the question ended', () => {
    const request = {
      request_id: idOf(7),
      project_id: PROJECT,
      session_id: idOf(8),
      run_id: idOf(1),
      tool_name: 'Bash',
    };
    const question = {
      ...request,
      tool_use_id: 't1',
      input: {},
      input_hash: 'h',
      suggestions: [],
      status: 'open',
      created_at: '2026-01-01T00:00:00.000Z',
    };
    const closing = {
      request_id: idOf(7),
      status: 'answered',
      behavior: 'deny',
      answered_by: { user_id: USER, name: 'Ada' },
    };
    const steps = [
      { type: 'permission.requested', run: 1, payload: question },
      { type: 'permission.closed', run: 1, payload: closing },
    ];
    const call = assistant(1, 'm', 0, { type: 'tool_use', id: 't1', name: 'Bash', input: {} });
    expect(feedOf(call, ...steps.slice(0, 1))).toMatchObject([{ kind: 'tool', asking: true }, { kind: 'permission' }]);
    expect(feedOf(call, ...steps)).toMatchObject([{ kind: 'tool', asking: false }, { kind: 'permission' }]);
    expect(feedOf(...steps)).toMatchObject([
      { kind: 'permission', closing: { behavior: 'deny', answered_by: { name: 'Ada' } } },
    ]);
  });
});

describe('partialFeed', () => {
  it('WEB-9 gives a block the same key before and after its event, so that its element stays', () => {
    const [partial] = partialFeed(addDelta([], deltaOf(1, 'm', 2, 0, 'Hel')));
    const [durable] = feedOf(said(1, 'm', 2, 'Hello'));
    expect(partial).toMatchObject({ kind: 'text', text: 'Hel', streaming: true });
    expect(durable).toMatchObject({ kind: 'text', text: 'Hello', streaming: false, key: partial?.key });
  });

  it('shows a tool call that is being written as its JSON so far', () => {
    const delta = { ...deltaOf(1, 'm', 0, 0, '{"comm'), block_type: 'tool_use' as const };
    expect(partialFeed(addDelta([], delta))).toMatchObject([{ kind: 'tool', input: undefined, draft: '{"comm' }]);
  });
});
