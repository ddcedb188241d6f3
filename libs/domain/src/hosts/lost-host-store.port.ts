// Hosts that nobody has held for long: what was at work on them is ended by whoever notices.
import type { Announcement } from '../events/committed.js';

export interface LostHostStore {
  /** Hosts that no worker holds now; `epoch` tells whether one did meanwhile. */
  unheld(): Promise<{ hostId: string; epoch: number }[]>;
  /**
   * Marks those of the hosts as lost that no worker has held for `graceMs`, by the database's clock, and ends the runs that had begun on
   * them as `failed` with `sandbox.lost`: fenced, so that a worker that comes back changes nothing. Runs that had not begun wait for the
   * host. Repeating it, also from several processes at once, ends nothing twice. Gives what is to be announced.
   */
  giveUp(hostIds: string[], graceMs: number): Promise<Announcement[]>;
}
