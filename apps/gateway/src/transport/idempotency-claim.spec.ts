// The hash by which a repetition is recognised.
import { canonicalJson, idempotencyClaim } from './idempotency-claim.js';

it('GW-16 does not depend on the order of keys, at any depth', () => {
  const one = { b: [{ y: 1, x: 'é' }], a: { d: null, c: true } };
  const other = { a: { c: true, d: null }, b: [{ x: 'é', y: 1 }] };
  expect(canonicalJson(one)).toBe(canonicalJson(other));
  expect(canonicalJson(one)).not.toBe(canonicalJson({ ...one, b: [] }));
  expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
});

it('GW-16 makes no claim without a key, and hashes everything but the key', () => {
  expect(idempotencyClaim('execute', 'u', { project_id: 'p' } as object)).toBeUndefined();
  const claim = (key: string, prompt: string) =>
    idempotencyClaim('execute', 'u', { prompt, idempotency_key: key } as { idempotency_key: string })?.idempotency;
  expect(claim('k', 'a')).toEqual({
    userId: 'u',
    event: 'execute',
    key: 'k',
    payloadHash: expect.any(String) as string,
  });
  expect(claim('k', 'a')?.payloadHash).toBe(claim('other', 'a')?.payloadHash);
  expect(claim('k', 'a')?.payloadHash).not.toBe(claim('k', 'b')?.payloadHash);
});
