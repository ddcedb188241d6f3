// What passes the broker and what does not, for headers that people thought of and for those that nobody did.
import fc from 'fast-check';
import { type HeaderList, toRaw, valuesOf } from './header-list.js';
import { callerToken, requestHeaders, responseHeaders } from './header-policy.js';

const SECRET = 'sk-real-secret';
const names = (headers: HeaderList): string[] => headers.map(([name]) => name.toLowerCase());

/** Names with any case, many of them such as the policy knows. */
const headerName = fc
  .oneof(
    fc.constantFrom(
      'connection',
      'x-api-key',
      'authorization',
      'proxy-authorization',
      'cookie',
      'set-cookie',
      'host',
      'transfer-encoding',
      'te',
      'upgrade',
      'content-type',
      'anthropic-version',
      'x-goog-api-key',
      'x-auth-token',
      'location',
    ),
    fc.stringMatching(/^[a-z][a-z0-9-]{0,15}$/),
  )
  .chain((name) => fc.mixedCase(fc.constant(name)));
const headerValue = fc.oneof(
  fc.stringMatching(/^[\x21-\x7e]{0,20}$/),
  fc.constantFrom(SECRET, `Bearer ${SECRET}`, 'close, x-api-key', 'Content-Type,accept', `x${SECRET}x`),
);
const headerList = fc.array(fc.tuple(headerName, headerValue), { maxLength: 20 });

const FORBIDDEN_UP =
  /^(connection|keep-alive|te|trailer|transfer-encoding|upgrade|host|cookie|authorization|x-api-key|proxy-.*)$/;
const FORBIDDEN_DOWN =
  /^(connection|keep-alive|te|trailer|transfer-encoding|upgrade|set-cookie|location|authorization|x-api-key|proxy-.*)$/;

describe('requestHeaders', () => {
  it('BRK-7 lets no credential, cookie, hop-by-hop or connection-listed header pass, whatever comes', () => {
    fc.assert(
      fc.property(headerList, (headers) => {
        const passed = requestHeaders(toRaw(headers));
        const listed = valuesOf(headers, 'connection').flatMap((value) =>
          value.split(',').map((name) => name.trim().toLowerCase()),
        );
        for (const name of names(passed)) {
          expect(name).not.toMatch(FORBIDDEN_UP);
          expect(listed).not.toContain(name);
        }
      }),
    );
  });

  it('BRK-7 keeps what it lets pass as it came, in its order, and lets it pass again', () => {
    fc.assert(
      fc.property(headerList, (headers) => {
        const passed = requestHeaders(toRaw(headers));
        expect(headers.filter((pair) => passed.some(([name, value]) => name === pair[0] && value === pair[1]))).toEqual(
          expect.arrayContaining([...passed]),
        );
        expect(requestHeaders(toRaw(passed))).toEqual(passed);
      }),
    );
  });

  it('BRK-7 lets everything pass that Claude Code sends besides its key', () => {
    const sent = [
      ['Accept', 'application/json'],
      ['Content-Type', 'application/json'],
      ['User-Agent', 'claude-cli/2.1.330 (external, sdk-cli)'],
      ['X-Claude-Code-Session-Id', '9329ab15-4dc1-4bc1-8121-d5baf7f92c9f'],
      ['X-Stainless-Retry-Count', '0'],
      ['anthropic-beta', 'claude-code-20250219'],
      ['anthropic-dangerous-direct-browser-access', 'true'],
      ['anthropic-version', '2023-06-01'],
      ['x-app', 'cli'],
      ['Accept-Encoding', 'gzip, deflate, br, zstd'],
      ['Content-Length', '48013'],
    ] as const;
    const raw = toRaw([...sent, ['x-api-key', 'token'], ['Connection', 'keep-alive'], ['Host', 'localhost:8082']]);
    expect(requestHeaders(raw)).toEqual(sent);
  });

  it.each([
    'X-Auth-Token',
    'api_key',
    'X-Amz-Security-Token',
    'X-HTTP-Method-Override',
    'Forwarded',
    'X-Forwarded-For',
    'Via',
    'Expect',
  ])('BRK-7 drops %s', (name) => {
    expect(requestHeaders([name, 'x'])).toEqual([]);
  });
});

describe('responseHeaders', () => {
  it('BRK-8 lets no secret, cookie, credential or hop-by-hop header pass, whatever comes', () => {
    fc.assert(
      fc.property(headerList, (headers) => {
        const passed = responseHeaders(toRaw(headers), [SECRET]);
        for (const name of names(passed)) expect(name).not.toMatch(FORBIDDEN_DOWN);
        expect(JSON.stringify(passed)).not.toContain(SECRET);
      }),
    );
  });

  it('BRK-8 keeps the limits and ids of the API', () => {
    const sent = [
      ['content-type', 'text/event-stream'],
      ['request-id', 'req_1'],
      ['anthropic-ratelimit-input-tokens-remaining', '5'],
      ['anthropic-ratelimit-tokens-limit', '5'],
      ['retry-after', '1'],
      ['content-encoding', 'gzip'],
    ] as const;
    expect(responseHeaders(toRaw([...sent, ['WWW-Authenticate', 'Bearer']]), [SECRET])).toEqual(sent);
  });
});

describe('callerToken', () => {
  it('BRK-3 reads the token from either header, and from both when they agree', () => {
    expect(callerToken([['X-API-Key', 't']])).toBe('t');
    expect(callerToken([['Authorization', 'bearer t']])).toBe('t');
    expect(
      callerToken([
        ['x-api-key', 't'],
        ['authorization', 'Bearer t'],
      ]),
    ).toBe('t');
  });

  it.each([
    ['none', []],
    [
      'two keys',
      [
        ['x-api-key', 'a'],
        ['X-Api-Key', 'b'],
      ],
    ],
    [
      'two headers that disagree',
      [
        ['x-api-key', 'a'],
        ['authorization', 'Bearer b'],
      ],
    ],
    [
      'another scheme beside a key',
      [
        ['x-api-key', 'a'],
        ['authorization', 'Basic YTpi'],
      ],
    ],
    ['an empty key', [['x-api-key', '']]],
    ['two words', [['authorization', 'Bearer a b']]],
    ['a joined list', [['x-api-key', 'a, b']]],
    ['a very long one', [['x-api-key', 'a'.repeat(513)]]],
    ['one that is not ASCII', [['x-api-key', 'tökén']]],
  ] as [string, HeaderList][])('BRK-3 takes %s for no token', (_name, headers) => {
    expect(callerToken(headers)).toBeUndefined();
  });
});
