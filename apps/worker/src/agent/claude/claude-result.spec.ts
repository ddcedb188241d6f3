// Every way in which a turn of Claude Code ends, as seen from 2.1.330.
import { resultLine } from './claude-lines.fixture.js';
import { isOwnResult, readResult } from './claude-result.js';
import type { JsonObject } from './claude-lines.js';

const PROMPT = '0190aaaa-0000-7000-8000-000000000001';
const parse = (more: JsonObject, promptId: string | undefined = PROMPT) =>
  JSON.parse(resultLine(promptId, more)) as JsonObject;

describe('readResult', () => {
  it.each([
    [
      { subtype: 'error_max_turns', is_error: true, errors: ['Reached maximum number of turns (1)'] },
      'agent.turns_exhausted',
    ],
    [
      { subtype: 'error_max_budget_usd', is_error: true, errors: ['Reached maximum budget ($1)'] },
      'agent.budget_exhausted',
    ],
    [{ subtype: 'error_during_execution', is_error: true, errors: ['[ede_diagnostic] x'] }, 'agent.failed'],
    [{ is_error: true, api_error_status: 529, result: 'API Error: 529' }, 'agent.model_error'],
  ])('AGT-16 names the failure of %j', (more, code) => {
    const result = readResult(parse(more));
    expect(result.error?.code).toBe(code);
    expect(result.processContinues).toBe(true);
    expect(result.payload['is_error']).toBe(true);
  });

  it('AGT-16 tells the status of a model error', () => {
    const { error } = readResult(parse({ is_error: true, api_error_status: 429, result: 'API Error: 429' }));
    expect(error).toEqual({ code: 'agent.model_error', message: 'API Error: 429', details: { status: 429 } });
  });

  it('AGT-14 takes a conversation that cannot be resumed for the end of the prompt', () => {
    const line = parse(
      {
        subtype: 'error_during_execution',
        is_error: true,
        num_turns: 0,
        duration_api_ms: 0,
        total_cost_usd: 0,
        errors: ['No conversation found with session ID: e6c505eb-16eb-4c40-843b-0c6ddeffec50'],
        user_message_uuid: undefined,
        user_message_uuids: undefined,
      },
      PROMPT,
    );
    expect(isOwnResult(line, PROMPT)).toBe(true);
    expect(readResult(line)).toMatchObject({ processContinues: false, error: { code: 'agent.conversation_lost' } });
  });

  it('AGT-15 adds up what the models cost since the result before', () => {
    const usage = { a: { costUSD: 0.25 }, b: { costUSD: 0.5 } };
    expect(readResult(parse({ model_usage_since_last_result: usage })).costSinceLastUsd).toBe(0.75);
    expect(readResult(parse({ model_usage_since_last_result: undefined })).costSinceLastUsd).toBeUndefined();
  });
});
