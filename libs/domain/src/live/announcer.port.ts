// Tells the world what a transaction committed: jobs to BullMQ, events to gateways, wake-ups to hosts.
import type { Announcement } from '../events/committed.js';

export interface Announcer {
  /** After the commit. Never throws: what is lost here is found again by reconciling and by heads (R3, R16). */
  announce(announcement: Announcement): Promise<void>;
}
