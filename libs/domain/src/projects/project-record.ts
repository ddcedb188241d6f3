// A project as the use-cases see it.
import type { ProjectState } from '#kernel';
import type { ProjectSettings } from './project-settings.js';

export interface ProjectRecord {
  projectId: string;
  hostId: string;
  name: string;
  /** Absolute path of the folder on the host. */
  path: string;
  image: string | null;
  /** Default options of its prompts (the protocol's claude options). */
  options: Record<string, unknown>;
  /** What holds for its runs beside those options; what is not set follows the configuration. */
  settings: ProjectSettings;
  state: ProjectState;
  currentSessionId: string | null;
  createdBy: string;
  createdAt: Date;
  lastActiveAt: Date;
  firstMessageAt: Date | null;
  lastMessageAt: Date | null;
  messageCount: number;
  eventCount: number;
  headSeq: number;
  oldestSeq: number;
  queuedRuns: number;
  activeRuns: number;
  deleting: boolean;
}
