// Claude Code as an agent of Gantry. The Agent SDK is loaded when the first agent is needed: it is large.
import type {
  AgentDriver,
  AgentHost,
  AgentPlan,
  AgentSession,
  AgentStart,
  AgentTranscript,
  AgentWishes,
  ReplayFilter,
} from '../agent-driver.port.js';
import { planClaude, type ClaudePlan } from './claude-options.js';
import { ClaudeReplayFilter } from './claude-replay-filter.js';
import { ClaudeSession, type ClaudeSdk } from './claude-session.js';
import { promptKey } from './claude-stdin.js';
import { ClaudeTranscript } from './claude-transcript.js';

export class ClaudeAgentDriver implements AgentDriver {
  readonly name = 'claude';
  #sdk: Promise<ClaudeSdk> | undefined;

  /** `version` names the CLI and what launches it; another one makes a new process of a warm one. `apiRetries`: of one request. */
  constructor(
    private readonly version: string,
    private readonly apiRetries: number,
  ) {}

  plan(wishes: AgentWishes): AgentPlan {
    return planClaude(wishes, this.version);
  }

  async open(plan: AgentPlan, host: AgentHost, how: AgentStart): Promise<AgentSession> {
    this.#sdk ??= import('@anthropic-ai/claude-agent-sdk');
    return new ClaudeSession(await this.#sdk, { plan: plan as ClaudePlan, host, how, apiRetries: this.apiRetries });
  }

  transcript(promptId: string): AgentTranscript {
    return new ClaudeTranscript(promptId);
  }

  promptKey(promptId: string): string {
    return promptKey(promptId);
  }

  replayFilter(answered: (key: string) => boolean): ReplayFilter {
    return new ClaudeReplayFilter(answered);
  }
}
