import fc from 'fast-check';
import { type RunSlot, RunSlots } from './run-slots.js';

const never = new AbortController().signal;

describe('RunSlots', () => {
  it('ENG-21 lets in no more than the limit, first come, first served', async () => {
    const slots = new RunSlots(2);
    const order: number[] = [];
    const held: RunSlot[] = [];
    const waiting = [0, 1, 2, 3].map(async (index) => {
      const slot = await slots.take(never);
      order.push(index);
      if (slot !== undefined) held.push(slot);
    });
    await Promise.all(waiting.slice(0, 2));
    expect(order).toEqual([0, 1]);
    held[0]?.release();
    held[0]?.release(); // a second release gives nothing back
    await waiting[2];
    expect(order).toEqual([0, 1, 2]);
    expect(slots.inUse).toBe(2);
    held[1]?.release();
    await waiting[3];
    expect(order).toEqual([0, 1, 2, 3]);
  });

  it('ENG-21 forgets who stops waiting', async () => {
    const slots = new RunSlots(1);
    const first = await slots.take(never);
    const leaver = new AbortController();
    const left = slots.take(leaver.signal);
    const next = slots.take(never);
    leaver.abort();
    expect(await left).toBeUndefined();
    expect(await slots.take(leaver.signal)).toBeUndefined();
    first?.release();
    expect(await next).toBeDefined();
    expect(slots.inUse).toBe(1);
  });

  it('ENG-21 counts a run that was taken over at once, and lets nobody in before there is room again', async () => {
    const slots = new RunSlots(1);
    const [over, second] = [slots.takeNow(), slots.takeNow()];
    const waiting = slots.take(never);
    let entered = false;
    void waiting.then(() => (entered = true));
    over.release();
    await Promise.resolve();
    expect(entered).toBe(false);
    second.release();
    await waiting;
    expect(slots.inUse).toBe(1);
  });

  it('ENG-21 loses no slot in any order of taking, leaving and releasing', async () => {
    const step = fc.oneof(
      fc.constant({ kind: 'take' as const }),
      fc.record({ kind: fc.constant('release' as const), which: fc.nat(20) }),
      fc.record({ kind: fc.constant('leave' as const), which: fc.nat(20) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.array(step, { maxLength: 60 }), async (limit, steps) => {
        const slots = new RunSlots(limit);
        const takers: { controller: AbortController; slot: Promise<RunSlot | undefined> }[] = [];
        for (const one of steps) {
          if (one.kind === 'take') {
            const controller = new AbortController();
            takers.push({ controller, slot: slots.take(controller.signal) });
          } else {
            const taker = takers[one.which % Math.max(1, takers.length)];
            if (one.kind === 'leave') taker?.controller.abort();
            else void taker?.slot.then((slot) => slot?.release());
          }
          await Promise.resolve();
          expect(slots.inUse).toBeLessThanOrEqual(limit);
        }
        for (const { controller, slot } of takers) {
          controller.abort();
          (await slot)?.release();
        }
        expect(slots.inUse).toBe(0);
      }),
    );
  });
});
