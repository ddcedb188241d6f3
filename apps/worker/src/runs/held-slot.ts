// The one slot that a run may hold. Whoever waits for it in vain, because the run has ended or was let go meanwhile, leaves none behind.
import type { RunSlot, RunSlots } from './run-slots.js';

export class HeldSlot {
  private slot: RunSlot | undefined;
  private taking: Promise<void> | undefined;
  private readonly closed = new AbortController();

  constructor(private readonly slots: Pick<RunSlots, 'take' | 'takeNow'>) {}

  get isHeld(): boolean {
    return this.slot !== undefined;
  }

  /** Waits for a slot, unless one is held. Resolves without one when a signal is aborted or the slot was closed. */
  async take(signal: AbortSignal): Promise<void> {
    // One after the other: a second one that waited at the same time would be granted a second slot.
    while (this.taking !== undefined) await this.taking;
    if (this.slot !== undefined) return;
    this.taking = this.acquire(signal).finally(() => (this.taking = undefined));
    await this.taking;
  }

  /** Takes one even above the limit, for a run that is at work already. */
  takeNow(): void {
    if (!this.closed.signal.aborted) this.slot ??= this.slots.takeNow();
  }

  release(): void {
    this.slot?.release();
    this.slot = undefined;
  }

  /** Gives it back for good. */
  close(): void {
    this.closed.abort();
    this.release();
  }

  private async acquire(signal: AbortSignal): Promise<void> {
    const wanted = AbortSignal.any([signal, this.closed.signal]);
    const slot = await this.slots.take(wanted);
    // Granted in the moment in which nobody wanted it any more.
    if (wanted.aborted) slot?.release();
    else this.slot = slot;
  }
}
