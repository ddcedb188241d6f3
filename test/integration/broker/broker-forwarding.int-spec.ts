// The broker between a caller on its unix socket and the model stand-in: who gets through, with what, and what comes back.
import { type ModelStandIn, startModelStandIn } from '#testing';
import { Secret } from '#config';
import {
  type BrokerUnderTest,
  call,
  errorOf,
  prompt,
  raw,
  REAL_KEY,
  type ScriptedUpstream,
  startBroker,
  startUpstream,
  TOKEN,
} from './broker-harness.js';

let standIn: ModelStandIn;
let broker: BrokerUnderTest;

beforeAll(async () => {
  standIn = await startModelStandIn({ key: REAL_KEY });
  broker = await startBroker({ upstreamUrl: standIn.url });
});
afterAll(async () => {
  await broker.close();
  await standIn.close();
});

describe('a request with the token of a live process', () => {
  it('BRK-6 reaches the model with the real key in place of the token, and gets the stream', async () => {
    const answer = await call(broker.socketPath, {
      path: '/broker/anthropic/v1/messages?beta=true',
      headers: [
        ['x-api-key', TOKEN],
        ['anthropic-version', '2023-06-01'],
        ['cookie', 'a=b'],
      ],
      body: prompt('demo:say through the broker'),
    });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(answer.text).toContain('"broker"');
    expect(answer.text.trimEnd()).toMatch(/event: message_stop\ndata: \{"type":"message_stop"\}$/);
    const seen = await standIn.waitForRequest(({ path }) => path === '/v1/messages?beta=true');
    expect(seen.headers).toMatchObject({ 'x-api-key': REAL_KEY, 'anthropic-version': '2023-06-01' });
    expect(seen.headers).not.toHaveProperty('cookie');
    expect(JSON.stringify(seen)).not.toContain(TOKEN);
  });

  it('BRK-3 may bring its token as Bearer too', async () => {
    const headers: [string, string][] = [['authorization', `Bearer ${TOKEN}`]];
    const answer = await call(broker.socketPath, { headers, body: prompt('demo:say hi', false) });
    expect(answer.status).toBe(200);
  });

  it('BRK-9 counts tokens and lists models', async () => {
    const counted = await call(broker.socketPath, {
      path: '/broker/anthropic/v1/messages/count_tokens',
      body: prompt('hello'),
    });
    expect(JSON.parse(counted.text)).toEqual({ input_tokens: expect.any(Number) as number });
    const models = await call(broker.socketPath, { method: 'GET', path: '/broker/anthropic/v1/models' });
    expect(models.status).toBe(200);
  });

  it('BRK-9 reaches nothing else of what the key could reach', async () => {
    const before = standIn.requests().length;
    for (const [method, path] of [
      ['GET', '/v1/files'],
      ['POST', '/v1/messages/batches'],
      ['DELETE', '/v1/models/x'],
      ['HEAD', '/api/hello'],
    ] as const) {
      const answer = await call(broker.socketPath, { method, path: `/broker/anthropic${path}` });
      expect(answer.status).toBe(403);
    }
    expect(standIn.requests()).toHaveLength(before);
  });

  it('BRK-20 gets the errors of the API as they are', async () => {
    const answer = await call(broker.socketPath, { body: prompt('demo:error 529') });
    expect(answer.status).toBe(529);
    expect(answer.headers['retry-after']).toBe('1');
    expect(JSON.parse(answer.text)).toMatchObject({ error: { type: 'overloaded_error' } });
  });
});

describe('a request without it', () => {
  it.each([
    ['no credential', []],
    ['an unknown token', [['x-api-key', 'token-of-nobody']]],
    ['the real key itself', [['x-api-key', REAL_KEY]]],
    [
      'two keys, one of them good',
      [
        ['x-api-key', TOKEN],
        ['x-api-key', 'other'],
      ],
    ],
    [
      'two headers that disagree',
      [
        ['x-api-key', TOKEN],
        ['authorization', 'Bearer other'],
      ],
    ],
    [
      'the token in another header',
      [
        ['x-goog-api-key', TOKEN],
        ['proxy-authorization', `Bearer ${TOKEN}`],
      ],
    ],
    ['the token as Basic', [['authorization', `Basic ${TOKEN}`]]],
    ['the token in another case', [['x-api-key', TOKEN.toUpperCase()]]],
  ] as [string, [string, string][]][])('BRK-3 is refused with %s', async (_name, headers) => {
    const before = standIn.requests().length;
    const answer = await call(broker.socketPath, { headers, body: prompt('hi') });
    expect(errorOf(answer)).toEqual({ status: 401, code: 'broker.unauthorized', type: 'authentication_error' });
    expect(standIn.requests()).toHaveLength(before);
  });

  it('BRK-4 is refused as soon as the process has ended', async () => {
    const owner = broker.directory.add('short-lived');
    const headers: [string, string][] = [['x-api-key', 'short-lived']];
    expect((await call(broker.socketPath, { headers, body: prompt('demo:say a') })).status).toBe(200);
    broker.directory.remove(owner.processId);
    expect((await call(broker.socketPath, { headers, body: prompt('demo:say a') })).status).toBe(401);
  });

  it('BRK-5 is refused with 503 while the directory is down, a token seen before is served', async () => {
    broker.directory.add('seen');
    const asked = (token: string): Promise<number> =>
      call(broker.socketPath, { headers: [['x-api-key', token]], body: prompt('demo:say a') }).then(
        ({ status }) => status,
      );
    expect(await asked('seen')).toBe(200);
    broker.directory.outage = 'fail';
    try {
      expect([await asked('seen'), await asked('not-seen')]).toEqual([200, 503]);
    } finally {
      broker.directory.outage = undefined;
    }
  });

  it('BRK-1 finds no other provider and no other place', async () => {
    const unknown = await call(broker.socketPath, { path: '/broker/other/v1/messages' });
    expect(errorOf(unknown)).toMatchObject({ status: 404, code: 'broker.provider_unknown' });
    expect((await call(broker.socketPath, { method: 'GET', path: '/' })).status).toBe(404);
  });

  it.each([
    'POST /broker/anthropic/../../v1/messages HTTP/1.1',
    'POST /broker/anthropic/%2e%2e/v1/messages HTTP/1.1',
    'POST /broker/anthropic/v1//messages HTTP/1.1',
    'POST http://api.example/broker/anthropic/v1/messages HTTP/1.1',
    'POST //broker/anthropic/v1/messages HTTP/1.1',
    'OPTIONS * HTTP/1.1',
  ])('BRK-1 goes nowhere with %p', async (line) => {
    const before = standIn.requests().length;
    const answer = await raw(
      broker.socketPath,
      `${line}\r\nHost: x\r\nx-api-key: ${TOKEN}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 40[0-9] /);
    expect(answer).toMatch(/broker\.(request_refused|provider_unknown)/);
    expect(standIn.requests()).toHaveLength(before);
  });
});

describe('the credential', () => {
  it('BRK-7 cannot be pushed aside by headers that a caller smuggles', async () => {
    await call(broker.socketPath, {
      headers: [
        ['X-Api-Key', TOKEN],
        ['Connection', 'x-api-key, anthropic-version, host'],
        ['Proxy-Connection', 'x-api-key'],
        ['anthropic-version', 'dropped'],
        ['X_API_KEY', 'underscore'],
        ['x-marker', 'smuggle'],
        ['transfer-encoding', 'chunked'],
      ],
    });
    const seen = await standIn.waitForRequest(({ headers }) => headers['x-marker'] === 'smuggle');
    expect(seen.headers['x-api-key']).toBe(REAL_KEY);
    expect(seen.headers.host).toBe(new URL(standIn.url).host);
    expect(seen.headers).not.toHaveProperty('anthropic-version');
    expect(seen.headers).not.toHaveProperty('x_api_key');
    expect(JSON.stringify(seen.headers)).not.toContain(TOKEN);
  });

  it('BRK-7 takes no second request hidden in the first', async () => {
    const before = standIn.requests().length;
    const hidden = `POST /broker/anthropic/v1/messages HTTP/1.1\r\nHost: x\r\nx-api-key: other\r\nContent-Length: 0\r\n\r\n`;
    const both = await raw(
      broker.socketPath,
      `POST /broker/anthropic/v1/messages HTTP/1.1\r\nHost: x\r\nx-api-key: ${TOKEN}\r\nContent-Length: ${hidden.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    );
    expect(both).toMatch(/^HTTP\/1\.1 400 /);
    expect(standIn.requests()).toHaveLength(before);
  });

  it('BRK-8 reaches the caller in no header, even from an upstream that repeats what it got', async () => {
    const upstream: ScriptedUpstream = await startUpstream((request, response) => {
      request.resume();
      response.writeHead(200, {
        'x-echo': `key=${String(request.headers['x-api-key'])}`,
        'x-api-key': String(request.headers['x-api-key']),
        [`x-${REAL_KEY}`]: '1',
        'set-cookie': ['a=b'],
        'www-authenticate': 'Bearer',
        'alt-svc': 'h3=":443"',
        connection: 'keep-alive, x-private',
        'x-private': 'hop',
        'request-id': 'req_1',
      });
      response.end('ok');
    });
    const echoing = await startBroker({ upstreamUrl: upstream.url });
    try {
      const answer = await call(echoing.socketPath, { body: prompt('hi') });
      expect(answer.text).toBe('ok');
      expect(JSON.stringify(answer.headers)).not.toContain(REAL_KEY);
      expect(Object.keys(answer.headers).sort()).toEqual(['connection', 'date', 'request-id', 'transfer-encoding']);
      expect(upstream.received[0]!.headers['x-api-key']).toBe(REAL_KEY);
    } finally {
      await echoing.close();
      await upstream.close();
    }
  });

  it('BRK-6 is an OAuth token when that is configured, and nothing is sent without any', async () => {
    const oauth = await startBroker({
      upstreamUrl: standIn.url,
      credential: { kind: 'oauth_token', value: new Secret(REAL_KEY) },
    });
    const none = await startBroker({ upstreamUrl: standIn.url, credential: undefined });
    try {
      const headers: [string, string][] = [
        ['x-api-key', TOKEN],
        ['anthropic-beta', 'some-beta'],
        ['x-marker', 'oauth'],
      ];
      expect((await call(oauth.socketPath, { headers, body: prompt('demo:say a') })).status).toBe(200);
      const seen = await standIn.waitForRequest((request) => request.headers['x-marker'] === 'oauth');
      expect(seen.headers).toMatchObject({
        authorization: `Bearer ${REAL_KEY}`,
        'anthropic-beta': 'some-beta,oauth-2025-04-20',
      });
      expect(seen.headers).not.toHaveProperty('x-api-key');
      const before = standIn.requests().length;
      const answer = await call(none.socketPath, { body: prompt('hi') });
      expect(errorOf(answer)).toMatchObject({ status: 503, code: 'broker.not_configured' });
      expect(standIn.requests()).toHaveLength(before);
    } finally {
      await oauth.close();
      await none.close();
    }
  });
});
