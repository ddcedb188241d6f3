// The `result` line that ends a turn of Claude Code: what became of the prompt, and what it used.
import type { AgentErrorCode, AgentResult } from '../agent-driver.port.js';
import { isObject, listOf, numberOf, objectOf, textOf, type JsonObject } from './claude-lines.js';

/** Whether a result answers this prompt: the CLI names the user messages that the turn consumed, or it failed before any. */
export function isOwnResult(line: JsonObject, promptId: string): boolean {
  const uuids = [line['user_message_uuid'], ...listOf(line['user_message_uuids'])].filter((id) => id !== undefined);
  return uuids.length > 0 ? uuids.includes(promptId) : failedAtStart(line);
}

/** The CLI writes such a result before it exits with code 1: nothing was sent to the model. */
const failedAtStart = (line: JsonObject): boolean =>
  line['is_error'] === true && line['num_turns'] === 0 && line['duration_api_ms'] === 0;

export function readResult(line: JsonObject): AgentResult {
  const error = readError(line);
  const text = textOf(line['result']);
  const since = costSinceLast(line['model_usage_since_last_result']);
  const duration = numberOf(line['duration_ms']);
  const turns = numberOf(line['num_turns']);
  return {
    processContinues: textOf(line['user_message_uuid']) !== undefined,
    ...(error === undefined ? {} : { error }),
    ...(text === undefined || error !== undefined ? {} : { text }),
    ...(isObject(line['usage']) ? { usage: line['usage'] } : {}),
    totalCostUsd: numberOf(line['total_cost_usd']) ?? 0,
    ...(since === undefined ? {} : { costSinceLastUsd: since }),
    payload: {
      subtype: textOf(line['subtype']) ?? 'success',
      is_error: error !== undefined,
      ...(text === undefined ? {} : { text }),
      ...(isObject(line['usage']) ? { usage: line['usage'] } : {}),
      ...(duration === undefined ? {} : { duration_ms: Math.round(duration) }),
      ...(turns === undefined ? {} : { num_turns: turns }),
      agent: line,
    },
  };
}

/** `terminal_reason` of a turn that was asked to end; seen with 2.1.330, in whatever it was doing. */
const INTERRUPTED: ReadonlySet<unknown> = new Set(['aborted_streaming', 'aborted_tools']);

function readError(line: JsonObject): AgentResult['error'] {
  if (INTERRUPTED.has(line['terminal_reason'])) return failure('run.interrupted', 'The turn was interrupted.');
  const messages = listOf(line['errors']).filter((item) => typeof item === 'string');
  const said = messages.join('; ') || textOf(line['result']) || 'The agent gave no reason.';
  switch (line['subtype']) {
    case 'success':
      return line['is_error'] === true ? modelError(line, said) : undefined;
    case 'error_max_turns':
      return failure('agent.turns_exhausted', said);
    case 'error_max_budget_usd':
      return failure('agent.budget_exhausted', said);
    default:
      return /^No conversation found/.test(said)
        ? failure(
            'agent.conversation_lost',
            'The agent no longer has this conversation, so it cannot go on. Start a new one with agent_new_session.',
          )
        : failure('agent.failed', said);
  }
}

const failure = (code: AgentErrorCode, message: string) => ({ code, message });

function modelError(line: JsonObject, message: string): AgentResult['error'] {
  const status = numberOf(line['api_error_status']);
  return { code: 'agent.model_error', message, ...(status === undefined ? {} : { details: { status } }) };
}

/** Dollars over all models, as the CLI counts them since the result before; undefined when it does not tell. */
function costSinceLast(usage: unknown): number | undefined {
  if (!isObject(usage)) return undefined;
  return Object.values(usage).reduce<number>((sum, model) => sum + (numberOf(objectOf(model)['costUSD']) ?? 0), 0);
}
