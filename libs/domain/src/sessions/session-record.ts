// A conversation with an agent.
import type { SessionStatus } from '#kernel';

export interface SessionRecord {
  sessionId: string;
  projectId: string;
  agent: string;
  /** The agent's own id of the conversation, for `--resume`; null until it told us. */
  agentSessionId: string | null;
  title: string | null;
  /** A title that a person gave is not replaced. */
  titleByUser: boolean;
  model: string | null;
  permissionMode: string | null;
  status: SessionStatus;
  createdBy: string;
  createdAt: Date;
  updatedAt: Date;
  lastRunAt: Date | null;
  archivedAt: Date | null;
  costUsd: number;
}
