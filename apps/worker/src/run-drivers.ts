// The drivers of this worker: commands, and prompts through the Claude Code CLI.
import type { ExecutionStore, LiveBus, PermissionStore, RunControlStore, SpareStore } from '#domain';
import type { Clock } from '#kernel';
import type { Logger } from '#observability';
import type { AttemptRules } from './agent/agent-attempts.js';
import { AgentRunDriver } from './agent/agent-run.driver.js';
import { ClaudeAgentDriver } from './agent/claude/claude-agent.driver.js';
import { SpareAgents } from './agent/spare-agents.js';
import { WarmAgents } from './agent/warm-agents.js';
import { CommandRunDriver } from './commands/command-run.driver.js';
import type { RunDrivers, RunningSandboxes } from './worker-parts.js';

export interface RunDriversParts {
  executions: ExecutionStore;
  control: RunControlStore;
  spares: SpareStore;
  questions: PermissionStore;
  bus: LiveBus;
  /** Names the CLI: a warm process of another one is not used again. */
  claudeVersion: string;
  warmAgents: { idleMs: number; most: number };
  /** Whether an agent is started before the first prompt of a conversation. */
  spareAgents: boolean;
  attempts: AttemptRules;
  /** What the spool of a process takes. */
  spoolBytes: number;
  /** How often the agent repeats a request to the model by itself. */
  apiRetries: number;
  /** Most bytes of a command's output that are kept, unless its project says otherwise. */
  maxOutputBytes: number;
  clock: Clock;
  logger: Logger;
}

/** The rest is room for what is written until the reader sees that it is too much. */
const HELD_SHARE = 0.75;

export function createRunDrivers(parts: RunDriversParts, sandboxes: RunningSandboxes): RunDrivers {
  const { executions, questions, bus, maxOutputBytes, clock, logger } = parts;
  const connectionTo = (sandboxId: string) => sandboxes.connectionTo(sandboxId);
  const warm = new WarmAgents({ executions, connectionTo, ...parts.warmAgents, clock, logger });
  const agent = new ClaudeAgentDriver(parts.claudeVersion, parts.apiRetries);
  const agentRuns = new AgentRunDriver({
    executions,
    questions,
    bus,
    agent,
    attempts: parts.attempts,
    maxHeldBytes: parts.spoolBytes * HELD_SHARE,
    warm,
  });
  const spare = new SpareAgents({
    store: parts.spares,
    executions,
    agent,
    warm,
    most: parts.spareAgents ? parts.warmAgents.most : 0,
    connect: (project, sandboxId) => sandboxes.connectProject(project, sandboxId),
    logger,
  });
  return {
    byKind: {
      command: new CommandRunDriver({ executions, control: parts.control, bus, maxOutputBytes, clock }),
      prompt: agentRuns,
      compact: agentRuns,
    },
    sweep: (lease) => warm.sweep(lease),
    wake: (project, lease) => spare.wake(project, lease),
    close: () => warm.close(),
  };
}
