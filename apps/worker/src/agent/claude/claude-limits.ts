// Usage limits of an account, as Claude Code tells of them: a `rate_limit_event` before the result (SDKRateLimitEvent of sdk.d.ts), and in
// the text of the result ("usage limit reached|<epoch>"; seen in the messages of the API).
import type { AgentResult } from '../agent-driver.port.js';
import { numberOf, objectOf, type JsonObject } from './claude-lines.js';

const LIMIT_TEXT = /usage limit reached\|(\d{9,11})/i;
/** HTTP status of an API that has too much to do. */
const OVERLOADED = 529;

export class LimitReader {
  #resetsAtS: number | undefined;

  read(line: JsonObject): void {
    if (line['type'] !== 'rate_limit_event') return;
    const info = objectOf(line['rate_limit_info']);
    this.#resetsAtS = info['status'] === 'rejected' ? numberOf(info['resetsAt']) : undefined;
  }

  /** Whether, and why, the same turn may be answered later. */
  judge(result: AgentResult): AgentResult {
    const { error } = result;
    if (error?.code !== 'agent.model_error') return result;
    const told = LIMIT_TEXT.exec(error.message)?.[1];
    const resetsAtS = told === undefined ? this.#resetsAtS : Number(told);
    if (resetsAtS !== undefined) {
      const resetAt = new Date(resetsAtS * 1000);
      const details = { ...error.details, reset_at: resetAt.toISOString() };
      return {
        ...result,
        again: { kind: 'usage_limit', resetAt },
        error: { code: 'agent.usage_limit', message: "The account's usage limit is reached.", details },
      };
    }
    return error.details?.['status'] === OVERLOADED ? { ...result, again: { kind: 'overloaded' } } : result;
  }
}
