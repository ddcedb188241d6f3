import { HeldSlot } from './held-slot.js';
import { RunSlots } from './run-slots.js';

const never = new AbortController().signal;

describe('HeldSlot', () => {
  it('ENG-21 leaves no slot behind when its run ends while it waits for one', async () => {
    const slots = new RunSlots(1);
    const other = slots.takeNow();
    const mine = new HeldSlot(slots);
    const waiting = mine.take(never);
    mine.close();
    await waiting;
    other.release();
    expect(slots.inUse).toBe(0);
  });

  it('ENG-21 leaves no slot behind when it was granted in the moment of the end', async () => {
    const slots = new RunSlots(1);
    const other = slots.takeNow();
    const mine = new HeldSlot(slots);
    const waiting = mine.take(never);
    other.release();
    mine.close();
    await waiting;
    expect(slots.inUse).toBe(0);
  });

  it('ENG-21 holds one slot, however often it is asked for at once', async () => {
    const slots = new RunSlots(3);
    const mine = new HeldSlot(slots);
    await Promise.all([mine.take(never), mine.take(never), mine.take(never)]);
    expect(slots.inUse).toBe(1);
    mine.release();
    expect(slots.inUse).toBe(0);
  });

  it('ENG-21 stops waiting when nobody wants it any more, and can be taken again', async () => {
    const slots = new RunSlots(1);
    const other = slots.takeNow();
    const mine = new HeldSlot(slots);
    const gaveUp = new AbortController();
    const waiting = mine.take(gaveUp.signal);
    gaveUp.abort();
    await waiting;
    expect(mine.isHeld).toBe(false);
    other.release();
    await mine.take(never);
    expect(mine.isHeld).toBe(true);
  });
});
