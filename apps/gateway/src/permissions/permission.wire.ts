// Questions of the agent as clients see them.
import type { PermissionRecord } from '#domain';
import type { PermissionInfo } from '#protocol';
import { limitTexts } from '../transport/text-limit.js';

/** `maxMessageBytes`: the client's own limit. The hash is that of the whole input, also where texts of it are cut. */
export const toPermissionInfo = (request: PermissionRecord, maxMessageBytes: number): PermissionInfo => ({
  request_id: request.requestId,
  project_id: request.projectId,
  session_id: request.sessionId,
  run_id: request.runId,
  tool_name: request.toolName,
  input: limitTexts(request.input, maxMessageBytes),
  input_hash: request.inputHash,
  suggestions: request.suggestions,
  status: request.status,
  created_at: request.createdAt.toISOString(),
});
