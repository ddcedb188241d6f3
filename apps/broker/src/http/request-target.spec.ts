// Targets as clients send them, and as attackers do.
import fc from 'fast-check';
import { AppError } from '#kernel';
import { parseTarget } from './request-target.js';

function codeOf(url: string): string {
  try {
    parseTarget(url);
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
  return 'accepted';
}

describe('parseTarget', () => {
  it('BRK-1 splits provider, path and query, and changes nothing', () => {
    expect(parseTarget('/broker/anthropic/v1/messages?beta=true&x=%2F..')).toEqual({
      provider: 'anthropic',
      path: '/v1/messages',
      query: '?beta=true&x=%2F..',
    });
    expect(parseTarget('/broker/anthropic/v1/models/claude%20x@1')).toMatchObject({
      path: '/v1/models/claude%20x@1',
      query: '',
    });
  });

  it.each([
    '/broker/anthropic/../../etc',
    '/broker/anthropic/v1/..',
    '/broker/anthropic/./v1',
    '/broker/anthropic//v1',
    '/broker/anthropic/v1/',
    '/broker/anthropic/',
    '/broker/anthropic',
    '/broker/anthropic/%2e%2e/v1',
    '/broker/anthropic/v1%2fmessages',
    '/broker/anthropic/v1%5Cmessages',
    '/broker/anthropic/v1\\messages',
    '/broker/anthropic/%252e%252e/x',
    '/broker/anthropic/v1/messages%00',
    '/broker/anthropic/v1/messages%0d%0aX:1',
    '/broker/anthropic/v1/messages;x=%3b',
    '/broker/anthropic/v1/messages#x',
    '/broker/anthropic/v1/mess ages',
    '/broker/anthropic/v1/messages?x=ä',
    '/broker/anthropic/v1/%zz',
    `/broker/anthropic/${'a'.repeat(9000)}`,
    'http://evil.example/broker/anthropic/v1/messages',
    '*',
    '',
  ])('BRK-1 refuses %p', (url) => {
    expect(codeOf(url)).toBe('broker.request_refused');
  });

  it.each([
    '/',
    '/v1/messages',
    '/broker',
    '/brokers/anthropic/v1',
    '/broker//v1',
    '/broker/Anthropic/v1',
    '/broker/..%2f/v1',
  ])('BRK-1 knows nothing at %p', (url) => {
    expect(['broker.provider_unknown', 'broker.request_refused']).toContain(codeOf(url));
  });

  it('BRK-1 never gives a path that leaves its place, whatever is asked', () => {
    const piece = fc.oneof(
      fc.constantFrom('/', '..', '.', '%2e', '%2f', '%5c', '\\', '?', '#', '/broker/anthropic', '//', '%25'),
      fc.string({ maxLength: 5 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const url = `/broker/anthropic/${pieces.join('')}`;
        if (codeOf(url) !== 'accepted') return;
        const { provider, path, query } = parseTarget(url);
        expect(`/broker/${provider}${path}${query}`).toBe(url);
        const seen = new URL(path + query, 'http://upstream');
        expect([seen.host, seen.pathname]).toEqual(['upstream', path]);
        expect(
          decodeURIComponent(path.replace(/%(?![2-7][\dA-Fa-f])/g, '_').replace(/%[89A-Fa-f]./g, '_')),
        ).not.toMatch(/\/\.\.?(\/|$)|\\/);
      }),
      { numRuns: 500 },
    );
  });
});
