// Live text of messages that are being written: sent at most every 40 ms (R12), kept whole for those who join (R16).
import type { DeltaFrame, LiveBus } from '#domain';
import type { Logger } from '#observability';
import { logError } from '#observability';
import type { BlockText } from './agent-driver.port.js';

/** Time between two frames, ms. The first text of a block is sent at once. */
export const COALESCE_MS = 40;

interface LiveBlock {
  frame: Omit<DeltaFrame, 'offset' | 'text'>;
  text: string;
  /** UTF-16 units that were sent. */
  sent: number;
  /** The durable event is committed when this offset is. */
  endOffset?: number;
}

export class DeltaStream {
  readonly #blocks = new Map<string, LiveBlock>();
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;
  #dirty = false;
  #saved = false;
  #ended = false;

  constructor(
    private readonly bus: Pick<LiveBus, 'publish' | 'savePartial' | 'clearPartial'>,
    private readonly about: { projectId: string; runId: string; epoch: number },
    private readonly logger: Logger,
  ) {}

  push(delta: BlockText): void {
    const { messageId, blockIndex, blockType, text } = delta;
    const key = keyOf(delta);
    const block = this.#blocks.get(key) ?? {
      frame: { ...this.about, messageId, blockIndex, blockType },
      text: '',
      sent: 0,
    };
    block.text += text;
    this.#blocks.set(key, block);
    this.#touch();
  }

  /** The block is complete, and what is left of it goes out now; its durable event ends at this offset of the output. */
  close(block: { messageId: string; blockIndex: number }, endOffset: number): void {
    const live = this.#blocks.get(keyOf(block));
    if (live === undefined) return;
    live.endOffset = endOffset;
    const sendRest = () => this.#send(takeFrame(live));
    // What is being sent comes before it.
    if (this.#flushing === undefined) sendRest();
    else this.#flushing = this.#flushing.then(sendRest);
  }

  /** Blocks whose events are committed need no live text any more. */
  committed(offset: number): void {
    for (const [key, block] of this.#blocks) {
      if (block.endOffset === undefined || block.endOffset > offset) continue;
      this.#blocks.delete(key);
      this.#touch();
    }
  }

  /** Sends what is left, and takes away what is kept: the run is over or another worker rebuilds it. */
  async end(how: { keepPartial: boolean }): Promise<void> {
    this.#ended = true;
    clearTimeout(this.#timer);
    await this.#flushing;
    if (how.keepPartial) return;
    this.#blocks.clear();
    await this.#flush();
  }

  #touch(): void {
    this.#dirty = true;
    if (this.#ended || this.#timer !== undefined || this.#flushing !== undefined) return;
    this.#run();
  }

  #run(): void {
    this.#dirty = false;
    this.#flushing = this.#flush().finally(() => {
      this.#flushing = undefined;
      if (this.#ended) return;
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        if (this.#dirty) this.#run();
      }, COALESCE_MS);
      this.#timer.unref();
    });
  }

  /** Saves before it sends: whoever subscribes between the two finds in the saved text what it missed. */
  async #flush(): Promise<void> {
    const frames = [...this.#blocks.values()].flatMap(takeFrame);
    const { projectId, runId } = this.about;
    try {
      if (this.#blocks.size > 0) {
        this.#saved = true;
        await this.bus.savePartial(projectId, runId, [...this.#blocks.values()].map(wholeFrame));
      } else if (this.#saved) {
        this.#saved = false;
        await this.bus.clearPartial(projectId, runId);
      }
    } catch (error) {
      // Live text may be lost: the durable event brings it.
      logError(this.logger, error, { doing: 'save partial message' });
    }
    this.#send(frames);
  }

  #send(frames: DeltaFrame[]): void {
    for (const delta of frames) this.bus.publish(this.about.projectId, { kind: 'delta', delta });
  }
}

const keyOf = (block: { messageId: string; blockIndex: number }): string => `${block.messageId}/${block.blockIndex}`;

const wholeFrame = (block: LiveBlock): DeltaFrame => ({ ...block.frame, offset: 0, text: block.text });

function takeFrame(block: LiveBlock): DeltaFrame[] {
  if (block.sent === block.text.length) return [];
  const frame = { ...block.frame, offset: block.sent, text: block.text.slice(block.sent) };
  block.sent = block.text.length;
  return [frame];
}
