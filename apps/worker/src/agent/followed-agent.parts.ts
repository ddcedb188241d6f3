// What a run works with once its agent is attached.
import type { RunContext } from '../runs/run-driver.port.js';
import type { AgentPlan } from './agent-driver.port.js';
import type { RunAgentHost } from './agent-host.js';
import type { AttachedAgent } from './agent-process.js';
import type { AgentRunParts } from './agent-run.parts.js';

export interface FollowedAgentParts extends AgentRunParts {
  context: RunContext;
  plan: AgentPlan;
  host: RunAgentHost;
  attached: AttachedAgent;
}
