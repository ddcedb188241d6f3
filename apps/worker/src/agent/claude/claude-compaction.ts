// What Claude Code says about compacting a conversation. Its result is a success either way; that nothing came of it is told by lines
// before. Seen with 2.1.330: `status` with compact_result and compact_error, and an answer whose local command failed.
import type { AgentEvent, AgentResult } from '../agent-driver.port.js';
import { blocksOf, numberOf, objectOf, textOf, type JsonObject } from './claude-lines.js';

/** A conversation that is too short. */
const NOTHING_TO_COMPACT = /no messages to compact|not enough messages to compact/i;

export class CompactionReader {
  #failure: string | undefined;

  read(line: JsonObject): void {
    if (line['type'] === 'system' && line['subtype'] === 'status' && line['compact_result'] === 'failed') {
      this.#failure = textOf(line['compact_error']) ?? 'The agent gave no reason.';
    }
    if (line['type'] === 'assistant' && objectOf(line['local_command_outcome'])['kind'] === 'failed') {
      const said = blocksOf(objectOf(line['message'])).map((block) => textOf(block['text']) ?? '');
      this.#failure = said.join('\n').replace(/^Error: /, '');
    }
  }

  /** The result of the run, with what kept it from compacting. Other results are as they are. */
  judge(line: JsonObject, result: AgentResult): AgentResult {
    if (line['local_command'] !== 'compact' || this.#failure === undefined || result.error !== undefined) return result;
    const { text: _text, ...rest } = result;
    const code = NOTHING_TO_COMPACT.test(this.#failure) ? 'session.nothing_to_compact' : 'agent.failed';
    return { ...rest, error: { code, message: this.#failure }, payload: { ...result.payload, is_error: true } };
  }
}

/** SDKCompactBoundaryMessage of sdk.d.ts. */
export function compacted(line: JsonObject): AgentEvent {
  const facts = objectOf(line['compact_metadata']);
  const after = numberOf(facts['post_tokens']);
  return {
    type: 'session.compacted',
    payload: {
      trigger: textOf(facts['trigger']) ?? 'manual',
      pre_tokens: numberOf(facts['pre_tokens']) ?? 0,
      ...(after === undefined ? {} : { post_tokens: after }),
      agent: line,
    },
  };
}
