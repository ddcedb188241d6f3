// A question of the agent to a person (R15).
import type { PermissionStatus } from '#kernel';

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
  answeredBy: { userId: string; name: string } | null;
  createdAt: Date;
  closedAt: Date | null;
}
