// The closed list of error codes as people read it.
import { ERROR_CODES, ERROR_MEANINGS } from './error-codes.js';

it('PROTO-8 says in one sentence or two what each code means', () => {
  expect(Object.keys(ERROR_MEANINGS)).toEqual(Object.keys(ERROR_CODES));
  for (const [code, meaning] of Object.entries(ERROR_MEANINGS)) {
    expect(`${code}: ${meaning}`).toMatch(/^\S+: [A-Z][^\n|]{15,140}\.$/);
  }
  expect(new Set(Object.values(ERROR_MEANINGS)).size).toBe(Object.keys(ERROR_CODES).length);
});
