// What Gantry needs of an agent's command line program, so that another one can be added beside Claude Code. The run driver
// (agent-run.driver.ts) owns the process, the offsets, the database and the questions; an AgentDriver knows one program's words.
import type { EventType } from '#kernel';
import type { ProcessExit } from '#domain';

/** Where the wishes of a run come from; the first that names an option wins. */
export interface AgentWishes {
  run: Record<string, unknown>;
  session: { model: string | null; permissionMode: string | null };
  project: Record<string, unknown>;
  /** Absolute path inside the sandbox. */
  cwd: string;
}

/** How a process is to be launched, decided before it is known whether a live one serves. */
export interface AgentPlan {
  /** Equal fingerprints may share a process: hash of all that cannot change in a live one (R7). */
  readonly fingerprint: string;
  readonly cwd: string;
  readonly model: string | undefined;
  readonly permissionMode: string;
  /** False for a process that must not serve a second run. */
  readonly reusable: boolean;
}

export interface AgentCommand {
  argv: string[];
  env: Record<string, string>;
}

/** A whole line for the agent's stdin. The same key is never written twice to one process (R8). */
export interface AgentInput {
  key: string;
  line: string;
}

export interface AgentQuestion {
  toolUseId: string;
  toolName: string;
  input: Record<string, unknown>;
  /** What the agent offers to remember if the answer is yes. */
  suggestions: unknown[];
}

export type AgentDecision =
  | { behavior: 'allow'; updatedInput: Record<string, unknown>; acceptedSuggestions: unknown[] }
  | { behavior: 'deny'; message: string };

/** What a session asks of the run that it serves. */
export interface AgentHost {
  /** The command is known: start the process. Not called for a session over a process that lives already. */
  launch(command: AgentCommand): void;
  /** Resolves when the sandbox has accepted the line. */
  write(input: AgentInput): Promise<void>;
  /** `withdrawn` is aborted when the agent does not want an answer any more. */
  decide(question: AgentQuestion, withdrawn: AbortSignal): Promise<AgentDecision>;
}

/** One conversation with a live process. It lives as long as the process is warm and serves one run at a time. */
export interface AgentSession {
  /** The run that it serves from now on. */
  serve(host: AgentHost): void;
  /** A line of stdout, in order. */
  deliver(line: string): void;
  /** Resolves when the agent has answered the first greeting. Rejects when it never will. */
  readonly ready: Promise<void>;
  /** Changes what a live process can change. Needs its output to be delivered meanwhile. */
  configure(wish: { model: string | undefined; permissionMode: string }): Promise<void>;
  /** Asks the agent to end its turn; its result says so. Resolves when it has heard that. */
  interrupt(): Promise<void>;
  /** The agent changed its permission mode by itself. */
  noteMode(mode: string): void;
  /** Resolves when the sandbox has the prompt. `promptId` comes back in the result. */
  prompt(promptId: string, text: string): Promise<void>;
  /** The process has ended. */
  ended(exit: Pick<ProcessExit, 'code' | 'signal'>): void;
  /** Lets go. The process is not touched. */
  close(): void;
}

export interface AgentEvent {
  type: EventType;
  payload: Record<string, unknown>;
}

/** Text of a block of a message that is being written. */
export interface BlockText {
  messageId: string;
  blockIndex: number;
  blockType: 'text' | 'thinking' | 'tool_use';
  text: string;
}

/** Why the same turn may be answered later. */
export type AgentRetry = { kind: 'overloaded' } | { kind: 'usage_limit'; resetAt: Date };

export interface AgentResult {
  /** False when the process is about to end by itself. */
  processContinues: boolean;
  error?: { code: AgentErrorCode; message: string; details?: Record<string, unknown> };
  /** It may be answered when it is asked again. */
  again?: AgentRetry;
  text?: string;
  usage?: Record<string, unknown>;
  totalCostUsd: number;
  costSinceLastUsd?: number;
  /** message.result but for its cost, which only the run knows. */
  payload: Record<string, unknown>;
}
export type AgentErrorCode =
  | 'run.interrupted'
  | 'session.nothing_to_compact'
  | 'agent.model_error'
  | 'agent.usage_limit'
  | 'agent.turns_exhausted'
  | 'agent.budget_exhausted'
  | 'agent.conversation_lost'
  | 'agent.failed';

/** What one line means. */
export interface LineReading {
  /** Durable, in order. */
  events: AgentEvent[];
  /** Live only. */
  delta?: BlockText;
  /** Deltas of this block end here: its durable event is among `events`, or it was given up. */
  blockClosed?: { messageId: string; blockIndex: number };
  /** False while a block is being written: the committed offset must stay before its first line (R16). */
  settled: boolean;
  /** The conversation's id, from the moment that it is worth resuming. */
  agentSessionId?: string;
  /** The permission mode that the agent changed to during the run. */
  permissionMode?: string;
  /** The result of the run's own prompt: the run is over. */
  result?: AgentResult;
  /** The agent answered a greeting; these tool uses wait for an answer. */
  openToolUses?: string[];
}

/** Reads the lines of one run, from any committed offset on. */
export interface AgentTranscript {
  read(line: string): LineReading;
  /** The process ended: what was written of an unfinished message, as events. */
  abandon(): AgentEvent[];
  /** The options that the agent would not start with, by what it wrote to stderr before it ended; empty for any other end. */
  refusedOptions(stderr: string): string[];
  /** Whether the agent has shown that it took the run's prompt. */
  readonly promptTaken: boolean;
  /** The conversation's id, if the agent has told it. */
  readonly agentSessionId: string | undefined;
}

/** Decides which of the lines that a process wrote before a new worker attached are delivered to its new session. */
export interface ReplayFilter {
  /** Whether to deliver a line that was there before. */
  keep(line: string): boolean;
}

/** A new process (going on with a conversation of before), or one that lives already. */
export type AgentStart = { kind: 'launch'; token: string; resume: string | null } | { kind: 'attach' };

export interface AgentDriver {
  readonly name: string;
  /** Throws `agent.options_invalid`. */
  plan(wishes: AgentWishes): AgentPlan;
  /** A session over a process that `host.launch` starts, or over a live one. The token identifies it to the broker. */
  open(plan: AgentPlan, host: AgentHost, how: AgentStart): Promise<AgentSession>;
  transcript(promptId: string): AgentTranscript;
  /** The key under which a session writes this prompt. */
  promptKey(promptId: string): string;
  /** `answered` tells whether a key of input was written already. */
  replayFilter(answered: (key: string) => boolean): ReplayFilter;
}
