// What the runs of agents work with.
import type { ExecutionStore, LiveBus, PermissionStore } from '#domain';
import type { StopSteps } from '../runs/stop-ladder.js';
import type { AttemptRules } from './agent-attempts.js';
import type { AgentDriver } from './agent-driver.port.js';
import type { WarmAgents } from './warm-agents.js';

export interface AgentRunParts {
  executions: Pick<
    ExecutionStore,
    | 'beginProcess'
    | 'adoptProcess'
    | 'processLive'
    | 'processEnded'
    | 'commitOutput'
    | 'openPermission'
    | 'cancelPermission'
    | 'isParked'
    | 'resumeRun'
    | 'answerOf'
    | 'setSessionStatus'
    | 'beginAttempt'
    | 'continueAttempt'
  >;
  questions: Pick<PermissionStore, 'openOf'>;
  bus: Pick<LiveBus, 'publish' | 'savePartial' | 'clearPartial'>;
  agent: AgentDriver;
  attempts: AttemptRules;
  /** Most bytes of output that an unfinished message may hold back: well below what the spool takes. */
  maxHeldBytes: number;
  warm: WarmAgents;
  steps?: StopSteps;
}
