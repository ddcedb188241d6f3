// Numbers and advice in words.
import { ERROR_CODES } from '#kernel';
import { clientProblem } from '../state/problem.js';
import { secondsLeft } from '../state/retry-rows.js';
import { adviceFor, messageOf } from './error-advice.js';
import { formatAgo, formatBytes, formatCost, formatCount, formatDuration } from './format.js';
import { t } from './index.js';

describe('formatting', () => {
  it.each([
    [340, '340 ms'],
    [3210, '3.2 s'],
    [125_000, '2 min 5 s'],
    [3_900_000, '1 h 5 min'],
  ])('shows %d ms as %s', (ms, text) => expect(formatDuration(ms)).toBe(text));

  it.each([
    [0, '0 B'],
    [512, '512 B'],
    [1536, '1.5 KiB'],
    [262_144, '256 KiB'],
    [5 * 1024 ** 3, '5.0 GiB'],
  ])('shows %d bytes as %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text));

  it('keeps the digits of an amount that matter', () => {
    expect([formatCost(0), formatCost(0.00421), formatCost(1.2), formatCount(18_632)]).toEqual([
      '$0.00',
      '$0.0042',
      '$1.20',
      '18.6K',
    ]);
  });

  it('says how long ago a moment was', () => {
    const at = '2026-01-10T12:00:00.000Z';
    const after = (ms: number): string => formatAgo(at, Date.parse(at) + ms, 'just now');
    expect([after(-5000), after(30_000), after(5 * 60_000), after(86_400_000)]).toEqual([
      'just now',
      'just now',
      '5 min. ago',
      'yesterday',
    ]);
    expect(after(30 * 86_400_000)).toBe('Jan 10, 2026');
  });
});

describe('the line about retries', () => {
  const retry = { status: 503, attempt: 7, maxRetries: 10, delayMs: 39_000 };
  const line = { of: 'retry', retry, runId: 'r', nextTryAt: 100_000, live: true } as const;

  it('WEB-32 says why, when and which attempt', () => {
    expect(t.feed.retrying(503, secondsLeft(line, 61_000), 7, 10)).toBe(
      'The model cannot be reached (503). Trying again in 39 s, attempt 7 of 10.',
    );
    expect(t.feed.retrying(undefined, 0, 7, 10)).toBe(
      'The model cannot be reached. Trying again now, attempt 7 of 10.',
    );
    expect(t.feed.retrying(529, 65, 7, 10)).toContain('in 1 min 5 s');
  });

  it('WEB-32 counts down within the announced wait, whatever the clock of the page says', () => {
    expect([0, 61_000, 99_500, 100_000, 900_000].map((now) => secondsLeft(line, now))).toEqual([39, 39, 1, 0, 0]);
  });
});

describe('adviceFor', () => {
  it('WEB-22 says what to do for every code, known or not', () => {
    for (const [code, kind] of Object.entries(ERROR_CODES)) expect(adviceFor({ code, kind })).toMatch(/\w.*[.]$/);
    expect(adviceFor({ code: 'something.new', kind: 'conflict' })).toMatch(/\.$/);
  });

  it('WEB-33 sends nobody to look for a key in a demo', () => {
    const problem = { code: 'agent.model_error', kind: 'unavailable' } as const;
    expect(adviceFor(problem)).toMatch(/key/);
    expect(adviceFor(problem, { demo: true })).not.toMatch(/key/);
  });

  it('WEB-35 says once where a folder may lie', () => {
    const problem = {
      code: 'project.path_outside_roots',
      kind: 'forbidden',
      message: 'It must lie beneath …',
    } as const;
    expect(messageOf(problem)).toBe('');
    expect(adviceFor(problem, { roots: ['/srv/projects/', '/home/p'] })).toBe(
      'Type a folder’s name after “/srv/projects/” or “/home/p/”.',
    );
  });

  it('WEB-22 has words for what the page finds out by itself', () => {
    for (const code of ['client.offline', 'client.connection_lost', 'client.no_answer', 'client.unreadable'] as const) {
      expect(messageOf(clientProblem(code))).toMatch(/\.$/);
    }
    expect(messageOf({ code: 'auth.token_invalid', message: 'The token is not valid.' })).toBe(
      'The token is not valid.',
    );
  });
});
