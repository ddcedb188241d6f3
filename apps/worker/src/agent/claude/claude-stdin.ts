// What the SDK writes to the CLI's stdin: cut into whole lines, each with the key under which it is written once (R8).
import { Writable } from 'node:stream';
import { newId } from '#kernel';
import type { AgentInput } from '../agent-driver.port.js';
import { objectOf, parseLine, textOf } from './claude-lines.js';

export const promptKey = (promptId: string): string => `prompt/${promptId}`;
export const answerKey = (requestId: string): string => `answer/${requestId}`;

/** The key of a line by what it is: a prompt, the answer to one of the CLI's requests, or a request of the SDK. */
export function keyOfLine(line: string): string {
  const message = parseLine(line);
  const requestId = textOf(message?.['request_id']) ?? newId();
  switch (message?.['type']) {
    case 'user':
      return promptKey(textOf(message['uuid']) ?? newId());
    case 'control_response':
      return answerKey(textOf(objectOf(message['response'])['request_id']) ?? newId());
    case 'control_request':
      return `request/${requestId}`;
    case 'control_cancel_request':
      return `cancel/${requestId}`;
    default:
      return `line/${newId()}`;
  }
}

/**
 * A stream for the SDK to write to. `put` is called with one whole line at a time, in order; a failure ends the stream.
 * Its end does not reach the process: only Gantry closes an agent's stdin.
 */
export class ClaudeStdin extends Writable {
  #rest = '';

  constructor(private readonly put: (input: AgentInput) => Promise<void>) {
    super({ decodeStrings: false });
  }

  override _write(chunk: string | Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const lines = (this.#rest + chunk.toString()).split('\n');
    this.#rest = lines.pop() ?? '';
    this.#putAll(lines).then(() => done(), done);
  }

  async #putAll(lines: string[]): Promise<void> {
    for (const line of lines) if (line.trim() !== '') await this.put({ key: keyOfLine(line), line: `${line}\n` });
  }
}
