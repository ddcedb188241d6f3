// What a new session over a live Claude Code process may see again of the lines that an earlier worker was given.
import type { ReplayFilter } from '../agent-driver.port.js';
import { objectOf, parseLine, textOf } from './claude-lines.js';
import { answerKey } from './claude-stdin.js';

/** Questions that the CLI lists in its answer to `initialize`: the SDK asks them again by itself. */
const REPEATED_BY_GREETING: ReadonlySet<string> = new Set(['can_use_tool', 'request_user_dialog']);

/**
 * Replayed answers belong to requests of a session that is gone; replayed questions are asked again by the greeting. Only a
 * request that has no answer and that no greeting repeats is delivered again, and then its withdrawal too.
 */
export class ClaudeReplayFilter implements ReplayFilter {
  readonly #kept = new Set<string>();

  constructor(private readonly answered: (key: string) => boolean) {}

  keep(line: string): boolean {
    const message = parseLine(line);
    switch (message?.['type']) {
      case 'control_response':
        return false;
      case 'control_cancel_request':
        return this.#kept.has(textOf(message['request_id']) ?? '');
      case 'control_request': {
        const id = textOf(message['request_id']) ?? '';
        const subtype = textOf(objectOf(message['request'])['subtype']) ?? '';
        if (REPEATED_BY_GREETING.has(subtype) || this.answered(answerKey(id))) return false;
        this.#kept.add(id);
        return true;
      }
      default:
        return true;
    }
  }
}
