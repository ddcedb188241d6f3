// A conversation with a Claude Code process through the official Agent SDK. The SDK speaks the control protocol (greeting,
// questions, settings); what the agent says is read by the run from the same lines, so that each has its exact offset.
import type {
  CanUseTool,
  PermissionMode,
  PermissionResult,
  PermissionUpdate,
  Query,
  SDKUserMessage,
} from '@anthropic-ai/claude-agent-sdk';
import { AppError } from '#kernel';
import type { AgentDecision, AgentHost, AgentInput, AgentSession, AgentStart } from '../agent-driver.port.js';
import { claudeEnvironment } from './claude-environment.js';
import { toSdkOptions, type ClaudePlan } from './claude-options.js';
import { ClaudeProcess } from './claude-process.js';
import { promptKey } from './claude-stdin.js';
import { PromptQueue } from './prompt-queue.js';

export type ClaudeSdk = Pick<typeof import('@anthropic-ai/claude-agent-sdk'), 'query'>;

export interface ClaudeSessionParts {
  plan: ClaudePlan;
  host: AgentHost;
  how: AgentStart;
  /** How often the CLI repeats a request to the model. */
  apiRetries: number;
}

interface Delivery {
  resolve(): void;
  reject(error: unknown): void;
}

export class ClaudeSession implements AgentSession {
  readonly ready: Promise<void>;
  readonly #process: ClaudeProcess;
  readonly #prompts = new PromptQueue();
  readonly #deliveries = new Map<string, Delivery>();
  readonly #query: Query;
  #host: AgentHost;
  #closed = false;
  /** Undefined when the process was launched by another worker. */
  #model: string | undefined | null;
  #permissionMode: string | undefined;

  constructor(sdk: ClaudeSdk, { plan, host, how, apiRetries }: ClaudeSessionParts) {
    this.#host = host;
    this.#process = new ClaudeProcess((input) => this.#put(input));
    if (how.kind === 'launch') {
      this.#model = plan.model ?? null;
      this.#permissionMode = plan.permissionMode;
    }
    this.#query = sdk.query({
      prompt: this.#prompts,
      options: {
        ...toSdkOptions(plan),
        ...(how.kind === 'launch' && how.resume !== null ? { resume: how.resume } : {}),
        pathToClaudeCodeExecutable: 'claude',
        // Settings in the workspace are written by the agent itself: they could allow what a person is to be asked.
        settingSources: [],
        includePartialMessages: true,
        // Not the worker's environment, which the SDK would take otherwise.
        env: {},
        canUseTool: this.#canUseTool,
        spawnClaudeCodeProcess: (spawn) => {
          if (how.kind === 'launch') {
            host.launch({
              argv: ['claude', ...spawn.args],
              env: claudeEnvironment({ token: how.token, apiRetries }, spawn.env),
            });
          }
          return this.#process;
        },
      },
    });
    this.ready = this.#query.initializationResult().then(
      () => undefined,
      (error: unknown) => {
        throw new AppError('agent.protocol', 'The agent did not answer when it was greeted.', { cause: error });
      },
    );
    // A greeting without an answer is reported by the end of the process, which its run sees.
    this.ready.catch(() => undefined);
    void this.#drain();
  }

  serve(host: AgentHost): void {
    this.#host = host;
  }

  deliver(line: string): void {
    if (!this.#closed) this.#process.deliver(line);
  }

  async configure(wish: { model: string | undefined; permissionMode: string }): Promise<void> {
    const model = wish.model ?? null;
    if (model !== this.#model) {
      await this.#query.setModel(wish.model);
      this.#model = model;
    }
    if (wish.permissionMode !== this.#permissionMode) {
      await this.#query.setPermissionMode(wish.permissionMode as PermissionMode);
      this.#permissionMode = wish.permissionMode;
    }
  }

  async prompt(promptId: string, text: string): Promise<void> {
    const message: SDKUserMessage = {
      type: 'user',
      uuid: promptId as SDKUserMessage['uuid'] & string,
      message: { role: 'user', content: text },
      parent_tool_use_id: null,
    };
    const delivered = new Promise<void>((resolve, reject) => {
      this.#deliveries.set(promptKey(promptId), { resolve, reject });
    });
    this.#prompts.push(message);
    await delivered;
  }

  async interrupt(): Promise<void> {
    await this.#query.interrupt();
  }

  /** What the agent changed its mode to by itself, so that a later wish is compared with what is. */
  noteMode(mode: string): void {
    this.#permissionMode = mode;
  }

  ended(exit: { code: number | null; signal: string | null }): void {
    this.#process.ended(exit.code, exit.signal);
    this.close();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#prompts.close();
    this.#process.letGo();
    this.#query.close();
  }

  async #put(input: AgentInput): Promise<void> {
    const delivery = this.#deliveries.get(input.key);
    this.#deliveries.delete(input.key);
    // A session that was let go says nothing more: another worker may speak to the process by now.
    if (this.#closed) return;
    try {
      await this.#host.write(input);
      delivery?.resolve();
    } catch (error) {
      delivery?.reject(error);
      throw error;
    }
  }

  readonly #canUseTool: CanUseTool = async (toolName, input, options) => {
    const withdrawn = new AbortController();
    // Closing the SDK aborts its signals as well; that is no withdrawal by the agent.
    options.signal.addEventListener('abort', () => {
      if (!this.#closed) withdrawn.abort();
    });
    const question = { toolUseId: options.toolUseID, toolName, input, suggestions: options.suggestions ?? [] };
    return toSdkAnswer(await this.#host.decide(question, withdrawn.signal));
  };

  /** The messages are read from the lines already; the SDK must be rid of them. */
  async #drain(): Promise<void> {
    try {
      for await (const _message of this.#query) if (this.#closed) return;
    } catch {
      // How the process ended is told by the sandbox, which knows more than the SDK.
      this.#closed = true;
    }
  }
}

function toSdkAnswer(decision: AgentDecision): PermissionResult {
  if (decision.behavior === 'deny') return { behavior: 'deny', message: decision.message };
  const accepted = decision.acceptedSuggestions as PermissionUpdate[];
  return {
    behavior: 'allow',
    updatedInput: decision.updatedInput,
    ...(accepted.length === 0 ? {} : { updatedPermissions: accepted }),
  };
}
