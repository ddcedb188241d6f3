// What a turn is said to cost, and who answered it.
import type { ResultItem } from '../state/feed-item.js';
import { openingWords, resultFacts } from './turn-words.js';

const result: ResultItem = {
  kind: 'result',
  key: 'r',
  costUsd: 0.0581,
  durationMs: 1200,
  turns: 1,
  tokens: { input: 3, output: 4 },
  ok: true,
  failure: undefined,
};

it('WEB-34 names no price in a demo', () => {
  expect(resultFacts(result, false)).toEqual(['1.2 s', '$0.0581', '1 turn', '3 in, 4 out']);
  expect(resultFacts(result, true)).toEqual(['1.2 s', 'no cost (demo)', '1 turn', '3 in, 4 out']);
});

it('WEB-34 opens a conversation of a demo with the demo model’s name', () => {
  expect(openingWords('claude-opus-5-5', 'default', true)).toBe('Demo model · asks before changing anything');
  expect(openingWords('claude-opus-5-5', 'default', false)).toBe('claude-opus-5-5 · asks before changing anything');
  expect(openingWords('m', 'a newer mode', false)).toBe('m · a newer mode');
});
