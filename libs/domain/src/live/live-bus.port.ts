// Live frames between processes. Losing one is harmless: readers catch up from Postgres.
import type { DeltaFrame, LiveFrame } from './live-frames.js';

export interface LiveBus {
  /** Fire and forget: failures are logged and counted, never thrown. */
  publish(projectId: string, frame: LiveFrame): void;
  /** Frames of a project from now on. Resolves when the subscription stands. */
  subscribe(projectId: string, listener: (frame: LiveFrame) => void): Promise<{ unsubscribe(): Promise<void> }>;
  /** Called after each reconnection: frames may have been missed. */
  onReconnect(listener: () => void): void;
  /** Keeps the blocks of an unfinished message, whole, under one key with an expiry, for those who join. */
  savePartial(projectId: string, runId: string, blocks: DeltaFrame[]): Promise<void>;
  clearPartial(projectId: string, runId: string): Promise<void>;
  partials(projectId: string): Promise<DeltaFrame[]>;
  /** Wakes the worker that holds a host: it looks at its open intents. */
  wakeHost(hostId: string): void;
  onWake(hostId: string, listener: () => void): Promise<{ unsubscribe(): Promise<void> }>;
}
