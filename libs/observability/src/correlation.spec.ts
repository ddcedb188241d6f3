import { newCorrelationId } from './correlation.js';

describe('newCorrelationId', () => {
  it('OBS-15 gives distinct ids in UUID form, lower case', () => {
    const ids = new Set(Array.from({ length: 100 }, newCorrelationId));
    expect(ids.size).toBe(100);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});
