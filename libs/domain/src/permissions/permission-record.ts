// A question of the agent to a person (R15).
import type { AnswerSource, PermissionStatus } from '#kernel';

export interface PermissionAnswer {
  behavior: 'allow' | 'deny';
  updatedInput?: Record<string, unknown>;
  message?: string;
  suggestions?: unknown[];
}
export interface PermissionRecord {
  requestId: string;
  projectId: string;
  sessionId: string;
  runId: string;
  processId: string;
  toolUseId: string;
  toolName: string;
  input: Record<string, unknown>;
  inputHash: string;
  suggestions: unknown[];
  status: PermissionStatus;
  answer: PermissionAnswer | null;
  /** The person who gave it; nobody where a rule or the clock did. */
  answeredBy: { userId: string; name: string } | null;
  answeredVia: AnswerSource | null;
  /** When an answer that nobody gave becomes a refusal. */
  expiresAt: Date | null;
  createdAt: Date;
  closedAt: Date | null;
}
