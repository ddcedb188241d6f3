// Brings what an agent said into the database: events and the offset of the line they come from in one transaction, one
// transaction at a time. The offset never passes a line whose block is still being written (R16).
import type { Committed, EventDraft, ExecutionStore, OutputCommit, ProcessFence, RunFence } from '#domain';

export interface CommittedLine {
  endOffset: number;
  events: EventDraft[];
  /** Whether everything up to the end of this line may be committed. */
  settled: boolean;
  session?: OutputCommit['session'];
}

export interface CommitterParts {
  store: Pick<ExecutionStore, 'commitOutput'>;
  fence: RunFence & ProcessFence;
  fromOffset: number;
  announce<T>(committed: Committed<T>): Promise<T>;
  activeMs(): number;
  /** Everything below is committed. */
  onCommitted(offset: number): void;
  /** A commit failed: nothing more will be committed. */
  onFailed(error: unknown): void;
}

type SessionFacts = OutputCommit['session'];
type Batch = Required<Pick<CommittedLine, 'endOffset' | 'events'>> & { session: SessionFacts };

/** Output without events is committed after this many bytes (R12), so that the sandbox can delete it. */
const QUIET_BYTES = 256 * 1024;
/** A reader waits when this much is not committed yet. */
const BACKLOG_BYTES = 4 * 1024 * 1024;

export class OutputCommitter {
  readonly #parts: CommitterParts;
  #committed: number;
  #read: number;
  /** Lines that may not be committed yet. */
  #held: EventDraft[] = [];
  #heldSession: OutputCommit['session'];
  #ready: Batch | undefined;
  #working: Promise<void> | undefined;

  constructor(parts: CommitterParts) {
    this.#parts = parts;
    this.#committed = parts.fromOffset;
    this.#read = parts.fromOffset;
  }

  get committedOffset(): number {
    return this.#committed;
  }

  /** Takes a line; resolves when the next one may come. Rejects with what a commit threw, if it has to wait for one. */
  async add(line: CommittedLine): Promise<void> {
    this.#read = line.endOffset;
    this.#held.push(...line.events);
    this.#heldSession = merged(this.#heldSession, line.session);
    if (line.settled) this.#release(line.endOffset);
    void this.#work();
    if (this.#read - this.#committed > BACKLOG_BYTES && this.#working !== undefined) await this.#working;
  }

  /** Stores how long a silent agent has been at work. */
  beat(): void {
    if (this.#working === undefined)
      void this.#start(this.#ready ?? { endOffset: this.#committed, events: [], session: undefined });
  }

  /** Bytes that were read and not committed. */
  get heldBytes(): number {
    return this.#read - this.#committed;
  }

  /** Resolves when everything that may be committed is. Rejects with what a commit threw. */
  async flush(): Promise<void> {
    for (let work = this.#work(true); work !== undefined; work = this.#work(true)) await work;
  }

  /** Gives everything free that was held, with what is left to say: nothing more will come. */
  releaseAll(events: EventDraft[], session?: OutputCommit['session']): void {
    this.#held.push(...events);
    this.#heldSession = merged(this.#heldSession, session);
    this.#release(this.#read);
  }

  /** The commit for the line that ends the run; it belongs into the transaction that finishes it. Call `flush` before. */
  last(line: Omit<CommittedLine, 'settled'>, processCostUsd: number | undefined): OutputCommit {
    const session = merged(this.#heldSession, line.session);
    return this.#commitOf({ ...line, events: [...this.#held, ...line.events], session }, processCostUsd);
  }

  #release(endOffset: number): void {
    const events = [...(this.#ready?.events ?? []), ...this.#held];
    this.#ready = { endOffset, events, session: merged(this.#ready?.session, this.#heldSession) };
    this.#held = [];
    this.#heldSession = undefined;
  }

  /** Starts the next commit unless one is under way or there is nothing worth one. */
  #work(all = false): Promise<void> | undefined {
    if (this.#working !== undefined) return this.#working;
    const batch = this.#ready;
    if (batch === undefined) return undefined;
    const quiet = batch.events.length === 0 && batch.session === undefined;
    if (quiet && batch.endOffset === this.#committed) return undefined;
    if (quiet && !all && batch.endOffset - this.#committed < QUIET_BYTES) return undefined;
    return this.#start(batch);
  }

  #start(batch: Batch): Promise<void> {
    this.#ready = undefined;
    const work = this.#commit(batch);
    this.#working = work;
    work.then(
      () => {
        this.#working = undefined;
        void this.#work();
      },
      // It stays the work under way, so that nothing is committed after a gap.
      (error: unknown) => this.#parts.onFailed(error),
    );
    return work;
  }

  async #commit(batch: Batch): Promise<void> {
    const parts = this.#parts;
    await parts.announce(await parts.store.commitOutput(this.#commitOf(batch, undefined)));
    this.#committed = batch.endOffset;
    parts.onCommitted(batch.endOffset);
  }

  #commitOf(batch: Batch, processCostUsd: number | undefined): OutputCommit {
    return {
      ...this.#parts.fence,
      fromOffset: this.#committed,
      toOffset: batch.endOffset,
      chunks: [],
      events: batch.events,
      activeMs: this.#parts.activeMs(),
      ...(batch.session === undefined ? {} : { session: batch.session }),
      ...(processCostUsd === undefined ? {} : { processCostUsd }),
    };
  }
}

const merged = (earlier: SessionFacts, later: SessionFacts): SessionFacts =>
  earlier === undefined ? later : { ...earlier, ...later };
