// Questions of the agent as clients see them: whole, or marked as cut and then without the hash that an answer takes.
import type { PermissionRecord } from '#domain';
import type { PermissionInfo } from '#protocol';
import { jsonBytes, limitTexts } from '../transport/text-limit.js';

/** The whole question. */
export const toPermissionInfo = (request: PermissionRecord): PermissionInfo => ({
  request_id: request.requestId,
  project_id: request.projectId,
  session_id: request.sessionId,
  run_id: request.runId,
  tool_name: request.toolName,
  tool_use_id: request.toolUseId,
  input: request.input,
  input_hash: request.inputHash,
  suggestions: request.suggestions,
  status: request.status,
  created_at: request.createdAt.toISOString(),
  ...(request.expiresAt === null ? {} : { expires_at: request.expiresAt.toISOString() }),
});

/** What a question is cut by: the rest of it is small. */
type Cuttable = Pick<PermissionInfo, 'input' | 'input_hash'> | Record<string, unknown>;

/**
 * The same question when its JSON has at most `maxBytes` bytes. Otherwise its input is cut, and it has no hash: nobody can answer
 * what was not sent whole. Suggestions repeat parts of the input, so they are left to `permission_get` too.
 */
export function limitPermission<T extends Cuttable>(question: T, maxBytes: number): T {
  if (jsonBytes(question) <= maxBytes) return question;
  const { input_hash: _, ...rest }: Record<string, unknown> = {
    ...question,
    input: {},
    suggestions: [],
    truncated: true,
  };
  const input = limitTexts(question.input as Record<string, unknown>, Math.max(0, maxBytes - jsonBytes(rest)));
  return { ...rest, input } as unknown as T;
}
