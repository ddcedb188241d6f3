// Rows of spare agent processes: started before anybody has asked for one, so they belong to no run and to no conversation. What guards
// them is the lease of the host.
import type { HostLease } from '../hosts/host-store.port.js';
import type { ProcessFence, ProcessRecord } from '../runs/execution-store.port.js';
import type { Committed } from '../events/committed.js';
import type { EventDraft } from '../events/event-record.js';

export interface NewSpare {
  processId: string;
  projectId: string;
  sandboxId: string;
  fingerprint: string;
  /** SHA-256 (hex) of the token in its environment. */
  tokenHash: string;
  bootId: string;
}

export interface SpareStore {
  /**
   * The sandbox in which a spare of the project is of use; undefined when none is: the project has one, its next prompt goes on with a
   * conversation, a prompt is under way, or the host keeps `most` idle agents already.
   */
  sandboxForSpare(projectId: string, lease: HostLease, most: number): Promise<{ sandboxId: string } | undefined>;
  /** Registers it, state `starting`, epoch 1. Throws `host.lease_lost`. */
  beginSpare(lease: HostLease, spare: NewSpare): Promise<ProcessRecord>;
  /** It waits for its first prompt: output below `outOffset` was its greeting, which no run needs. Throws `write.fenced`. */
  spareReady(fence: ProcessFence, facts: { pid: number | null; bootId: string; outOffset: number }): Promise<void>;
  /** Events of a project that come from no run. Throws `host.lease_lost`. */
  appendHostEvents(lease: HostLease, projectId: string, events: EventDraft[]): Promise<Committed<void>>;
}
