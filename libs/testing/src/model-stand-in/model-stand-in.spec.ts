// The stand-in over real HTTP: who may ask, what a stream looks like on the wire, and how it breaks.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { runCommandLine } from './command-line.js';
import { type ModelStandIn, startModelStandIn } from './model-stand-in.js';
import { until } from '../until.js';

const KEY = 'the-right-key';
type Body = Record<string, unknown>;

let standIn: ModelStandIn;
beforeEach(async () => {
  standIn = await startModelStandIn({ key: KEY });
});
afterEach(() => standIn.close());

function post(
  path: string,
  body: Body | string,
  headers: Record<string, string> = { 'x-api-key': KEY },
): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(`${standIn.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: text,
  });
}

function prompt(content: string, extra: Body = {}): Body {
  return { model: 'claude-opus-5-5', max_tokens: 1_000_000, messages: [{ role: 'user', content }], ...extra };
}

/** Opens a stream and gives it after its first bytes. */
async function openStream(content: string): Promise<IncomingMessage> {
  const request = httpRequest(`${standIn.url}/v1/messages`, { method: 'POST', headers: { 'x-api-key': KEY } });
  request.end(JSON.stringify(prompt(content, { stream: true })));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  await once(response, 'readable');
  return response;
}

async function rest(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) text += chunk;
  return text;
}

describe('the model stand-in', () => {
  it.each([
    [{}, 'x-api-key header is required'],
    [{ 'x-api-key': 'wrong' }, 'invalid x-api-key'],
    [{ authorization: `Basic ${KEY}` }, 'invalid x-api-key'],
  ])('DEMO-1 refuses %j in the form of the API', async (headers, message) => {
    const response = await post('/v1/messages', prompt('hi'), headers);
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({
      type: 'error',
      error: { type: 'authentication_error', message },
      request_id: response.headers.get('request-id'),
    });
  });

  it('DEMO-1 takes the key as x-api-key and as a Bearer token', async () => {
    expect((await post('/v1/messages', prompt('hi'))).status).toBe(200);
    expect((await post('/v1/messages', prompt('hi'), { authorization: `Bearer ${KEY}` })).status).toBe(200);
  });

  it('DEMO-2 streams server-sent events and records the request', async () => {
    const response = await post('/v1/messages?beta=true', prompt('demo:say hi there', { stream: true }));
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const events = (await response.text()).split('\n\n').filter((event) => event !== '');
    expect(events[0]).toMatch(/^event: message_start\ndata: \{"type":"message_start",/);
    expect(events.at(-1)).toBe('event: message_stop\ndata: {"type":"message_stop"}');
    expect(events.filter((event) => event.includes('text_delta'))).toHaveLength(2);
    expect(await standIn.waitForRequest(({ outcome }) => outcome === 'answered')).toMatchObject({
      method: 'POST',
      path: '/v1/messages?beta=true',
      status: 200,
      headers: { 'x-api-key': KEY },
      body: { stream: true },
    });
  });

  it('DEMO-4 counts the tokens that the answer reports as its input', async () => {
    const counted = (await (await post('/v1/messages/count_tokens', prompt('demo:say hi'))).json()) as {
      input_tokens: number;
    };
    const message = (await (await post('/v1/messages', prompt('demo:say hi'))).json()) as { usage: Body };
    expect(counted.input_tokens).toBeGreaterThan(0);
    expect(message.usage['input_tokens']).toBe(counted.input_tokens);
  });

  it('DEMO-5 lists models, and answers for any other path that there is nothing', async () => {
    const get = (path: string): Promise<Response> => fetch(`${standIn.url}${path}`, { headers: { 'x-api-key': KEY } });
    const list = (await (await get('/v1/models')).json()) as { data: { id: string }[]; has_more: boolean };
    expect(list.has_more).toBe(false);
    expect(await (await get(`/v1/models/${list.data[0]!.id}`)).json()).toEqual(list.data[0]);
    expect((await get('/v1/models/none')).status).toBe(404);
    expect((await get('/v2')).status).toBe(404);
  });

  it.each([
    ['no JSON', '{'],
    ['no messages', JSON.stringify({ model: 'm', max_tokens: 1 })],
    ['no max_tokens', JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }] })],
  ])('DEMO-5 refuses a body with %s as an invalid request', async (_name, body) => {
    const response = await post('/v1/messages', body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
  });

  it('DEMO-10 takes its own thinking back unchanged only', async () => {
    const asked = prompt('demo:think hm', { thinking: { type: 'adaptive' } });
    const { content } = (await (await post('/v1/messages', asked)).json()) as { content: Body[] };
    const follow = (blocks: Body[]): Body => ({
      ...asked,
      messages: [
        { role: 'user', content: 'x' },
        { role: 'assistant', content: blocks },
        { role: 'user', content: 'y' },
      ],
    });
    expect((await post('/v1/messages', follow(content))).status).toBe(200);
    const changed = await post('/v1/messages', follow([{ ...content[0], thinking: 'other' }]));
    expect(changed.status).toBe(400);
    expect(await changed.json()).toMatchObject({
      error: { message: 'messages.1.content.0: Invalid `signature` in `thinking` block' },
    });
    const foreign = follow([{ type: 'thinking', thinking: 'a', signature: 'made elsewhere' }]);
    expect((await post('/v1/messages', foreign)).status).toBe(200);
  });

  it('DEMO-23 says until when a usage limit holds, and answers after it', async () => {
    const limited = await post('/v1/messages', prompt('demo:limit 1\ndemo:say through'));
    expect([limited.status, limited.headers.get('x-should-retry')]).toEqual([429, 'false']);
    const { error } = (await limited.json()) as { error: { message: string } };
    const endS = Number(/usage limit reached\|(\d+)$/.exec(error.message)?.[1]);
    expect(endS).toBeGreaterThan(Date.now() / 1000);
    const ask = async () => (await post('/v1/messages', prompt('demo:limit 1\ndemo:say through'))).status === 200;
    await until('the limit is over', ask);
    expect(Date.now() / 1000).toBeGreaterThanOrEqual(endS);
  });

  it('DEMO-11 fails as often as told, then answers, and then begins anew', async () => {
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 6; attempt += 1) {
      const response = await post('/v1/messages', prompt('demo:error 529 2', { stream: attempt % 2 === 0 }));
      statuses.push(response.status);
      await response.text();
    }
    expect(statuses).toEqual([529, 529, 200, 529, 529, 200]);
  });

  it('DEMO-11 fails always when no number is given, in the form of the API and with a time to wait', async () => {
    const response = await post('/v1/messages', prompt('demo:error 429'));
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '1']);
    expect(await response.json()).toMatchObject({ type: 'error', error: { type: 'rate_limit_error' } });
  });

  it.each([true, false])(
    'DEMO-12 drops the connection in mid-answer, stream %p, and answers the next time',
    async (stream) => {
      const first = await post('/v1/messages', prompt('demo:cut\ndemo:long 50', { stream }));
      expect(first.status).toBe(200);
      await expect(first.text()).rejects.toThrow();
      expect(await standIn.waitForRequest(({ outcome }) => outcome === 'cut')).toMatchObject({ status: 200 });
      expect(await (await post('/v1/messages', prompt('demo:cut\ndemo:long 50', { stream }))).text()).toContain('w49');
    },
  );

  it('DEMO-12 has sent the words before the cut', async () => {
    const response = await openStream('demo:cut 1 3\ndemo:long 50');
    let seen = '';
    response.setEncoding('utf8').on('data', (text: string) => (seen += text));
    await once(response, 'error');
    expect(seen).toContain('"w2 "');
    expect(seen).not.toContain('"w3 "');
  });

  it.each(['demo:slow 1000 60000', 'demo:hang 2\ndemo:long 9'])(
    'DEMO-13 stops at once when the client goes: %p',
    async (text) => {
      const response = await openStream(text);
      response.destroy();
      expect(await standIn.waitForRequest(({ outcome }) => outcome !== 'open')).toMatchObject({ outcome: 'aborted' });
    },
  );

  it('DEMO-13 hangs without a word when told so, until it is closed', async () => {
    const asked = post('/v1/messages', prompt('demo:hang', { stream: true }));
    const failed = expect(asked).rejects.toThrow();
    await standIn.waitForRequest(() => true);
    await standIn.close();
    await failed;
    standIn = await startModelStandIn({ key: KEY });
  });

  it('DEMO-13 loses nothing to a reader that is slower than it writes', async () => {
    const response = await openStream('demo:long 60000');
    response.pause();
    await new Promise(setImmediate);
    expect(standIn.requests()[0]!.outcome).toBe('open');
    expect(await rest(response)).toContain('"w59999"');
  });

  it('DEMO-14 takes the time of its words in a slow answer', async () => {
    const started = performance.now();
    await (await post('/v1/messages', prompt('demo:slow 4 20', { stream: true }))).text();
    expect(performance.now() - started).toBeGreaterThanOrEqual(55);
  });
});

describe('the command line of the demo model', () => {
  it('DEMO-19 prints where it listens, and its usage', async () => {
    const written: string[] = [];
    const write = (text: string): number => written.push(text);
    expect(await runCommandLine(['--help'], write)).toBeUndefined();
    const started = await runCommandLine(['--key', 'k'], write);
    expect(written[0]).toContain('--port');
    expect(JSON.parse(written[1]!)).toEqual({ listening: started!.url });
    expect((await fetch(`${started!.url}/v1/models`, { headers: { 'x-api-key': 'k' } })).status).toBe(200);
    await started!.close();
  });

  it('DEMO-22 takes its key from a file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gantry-demo-key-'));
    const file = join(folder, 'key');
    try {
      writeFileSync(file, 'from-a-file\n');
      const started = await runCommandLine(['--key-file', file], () => undefined);
      const headers = { 'x-api-key': 'from-a-file' };
      expect((await fetch(`${started!.url}/v1/models`, { headers })).status).toBe(200);
      await started!.close();
      writeFileSync(file, '\n');
      await expect(runCommandLine(['--key-file', file], () => undefined)).rejects.toThrow('holds no key');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it.each([
    [[]],
    [['--key', 'k', '--port', '70000']],
    [['--key', 'k', '--port', '']],
    [['--nonsense']],
    [['--key', 'k', '--key-file', '/dev/null']],
    [['--key-file', '/no/such/file']],
  ])('DEMO-19 refuses the arguments %j', async (argv) => {
    await expect(runCommandLine(argv, () => undefined)).rejects.toThrow();
  });
});
