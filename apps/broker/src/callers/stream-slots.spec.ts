// The limit per process.
import { StreamSlots } from './stream-slots.js';

describe('StreamSlots', () => {
  it('BRK-14 limits each process by itself and gives a slot back once', () => {
    const slots = new StreamSlots(2);
    const release = slots.take('a');
    slots.take('a');
    expect(() => slots.take('a')).toThrow(
      expect.objectContaining({ code: 'connection.limit_reached', retryable: true }) as Error,
    );
    expect(() => slots.take('b')).not.toThrow();
    release();
    release();
    slots.take('a');
    expect(() => slots.take('a')).toThrow(expect.objectContaining({ code: 'connection.limit_reached' }) as Error);
  });
});
