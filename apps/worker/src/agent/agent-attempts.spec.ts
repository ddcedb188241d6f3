import fc from 'fast-check';
import { newId } from '#kernel';
import type { RunContext } from '../runs/run-driver.port.js';
import { backOffMs, promptIdOf, promptTextOf } from './agent-attempts.js';
import { ClaudeTranscript } from './claude/claude-transcript.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('an attempt', () => {
  it('SES-10 has a prompt id of its own, always the same one, and the first has that of the run', () => {
    const runId = newId();
    const ids = [1, 2, 3, 4].map((attempts) => promptIdOf({ runId, attempts }));
    expect(ids[0]).toBe(runId);
    expect(new Set(ids).size).toBe(4);
    expect(promptIdOf({ runId, attempts: 3 })).toBe(ids[2]);
    for (const id of ids) expect(id).toMatch(UUID);
  });

  it('SES-10 says the prompt again only to an agent that does not have it', () => {
    const claimed = (attempts: number, agentSessionId: string | null) =>
      ({ run: { attempts, prompt: 'hello' }, session: { agentSessionId } }) as unknown as RunContext['claimed'];
    expect(promptTextOf(claimed(1, 'known'))).toBe('hello');
    expect(promptTextOf(claimed(2, null))).toBe('hello');
    expect(promptTextOf(claimed(2, 'known'))).not.toContain('hello');
  });

  it('SES-10 waits longer each time, and never for more than a minute and a half', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 10, max: 60_000 }),
        fc.integer({ min: 1, max: 20 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (firstMs, attempt, random) => {
          const rules = { most: 3, firstMs };
          const waitMs = backOffMs(rules, attempt, () => random);
          expect(waitMs).toBeGreaterThanOrEqual(Math.min(60_000, firstMs * 2 ** (attempt - 1)));
          expect(waitMs).toBeLessThanOrEqual(90_000);
          expect(backOffMs(rules, attempt + 1, () => 0)).toBeGreaterThanOrEqual(backOffMs(rules, attempt, () => 0));
        },
      ),
    );
  });
});

describe('what an agent says of a failure of the model', () => {
  const PROMPT = newId();
  const result = (status: number, text: string) => ({
    type: 'result',
    subtype: 'success',
    is_error: true,
    result: text,
    api_error_status: status,
    total_cost_usd: 0,
    user_message_uuid: PROMPT,
  });
  const limit = (status: string, resetsAt?: number) => ({
    type: 'rate_limit_event',
    rate_limit_info: { status, ...(resetsAt === undefined ? {} : { resetsAt }) },
  });
  const read = (...lines: object[]) => {
    const transcript = new ClaudeTranscript(PROMPT);
    return lines.map((line) => transcript.read(JSON.stringify(line))).at(-1)?.result;
  };

  it('SES-10 an overloaded model may be asked again, another failure not', () => {
    expect(read(result(529, 'API Error: 529'))?.again).toEqual({ kind: 'overloaded' });
    expect(read(result(500, 'API Error: 500'))?.again).toBeUndefined();
    expect(read(result(429, 'API Error: 429'))?.again).toBeUndefined();
  });

  it('SES-11 a usage limit is known by its event or by its text, with the time of its end', () => {
    const resetAt = new Date(1_800_000_000_000);
    for (const said of [
      read(result(429, 'Claude AI usage limit reached|1800000000')),
      read(limit('rejected', 1_800_000_000), result(429, 'You have hit your limit')),
    ]) {
      expect(said?.again).toEqual({ kind: 'usage_limit', resetAt });
      expect(said?.error).toMatchObject({ code: 'agent.usage_limit', details: { reset_at: resetAt.toISOString() } });
    }
    expect(read(limit('allowed_warning', 1_800_000_000), result(429, 'API Error: 429'))?.again).toBeUndefined();
    expect(read(limit('rejected'), result(429, 'API Error: 429'))?.again).toBeUndefined();
  });
});
