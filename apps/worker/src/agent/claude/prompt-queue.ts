// The prompts of a conversation as the SDK wants them: one stream that stays open between turns.
import type { SDKUserMessage } from '@anthropic-ai/claude-agent-sdk';

export class PromptQueue implements AsyncIterable<SDKUserMessage> {
  readonly #waiting: SDKUserMessage[] = [];
  #wake: () => void = () => undefined;
  #closed = false;

  push(message: SDKUserMessage): void {
    this.#waiting.push(message);
    this.#wake();
  }

  close(): void {
    this.#closed = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SDKUserMessage, void> {
    while (!this.#closed) {
      const next = this.#waiting.shift();
      if (next !== undefined) yield next;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
