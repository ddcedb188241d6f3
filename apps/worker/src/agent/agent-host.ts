// The run's end of a session: starts its process, writes to its stdin, and asks people. It is closed with the run, and then
// nothing of the session reaches the sandbox any more.
import type { ProcessRecord, SandboxConnection } from '#domain';
import { AppError, isAppError } from '#kernel';
import { pause } from '../timing/pause.js';
import type { AgentCommand, AgentDecision, AgentHost, AgentInput, AgentQuestion } from './agent-driver.port.js';

const INPUT_RETRY_MS = 100;

type Decide = (question: AgentQuestion, withdrawn: AbortSignal) => Promise<AgentDecision>;
type Process = Pick<ProcessRecord, 'processId' | 'epoch'>;

export class RunAgentHost implements AgentHost {
  /** Resolves when the session has made up its command line. */
  readonly command: Promise<AgentCommand>;
  #tellCommand: (command: AgentCommand) => void = () => undefined;
  readonly #process: Promise<Process>;
  #tellProcess: (process: Process) => void = () => undefined;
  readonly #decide: Promise<Decide>;
  #tellDecide: (decide: Decide) => void = () => undefined;
  readonly #closed = new AbortController();
  #failed: (error: unknown) => void = () => undefined;

  constructor(private readonly connection: Pick<SandboxConnection, 'input'>) {
    this.command = new Promise((resolve) => (this.#tellCommand = resolve));
    this.#process = new Promise((resolve) => (this.#tellProcess = resolve));
    this.#decide = new Promise((resolve) => (this.#tellDecide = resolve));
  }

  launch(command: AgentCommand): void {
    this.#tellCommand(command);
  }

  /** The process runs: what the session wrote meanwhile goes to it. */
  processStarted(process: Process): void {
    this.#tellProcess(process);
  }

  /** From now on questions are asked, and what cannot be written is reported: an answer that got lost would leave the agent waiting. */
  serve(run: { decide: Decide; failed: (error: unknown) => void }): void {
    this.#failed = run.failed;
    this.#tellDecide(run.decide);
  }

  async decide(question: AgentQuestion, withdrawn: AbortSignal): Promise<AgentDecision> {
    return (await this.#decide)(question, withdrawn);
  }

  /** Throws what the connection throws. */
  async write(input: AgentInput): Promise<void> {
    try {
      await this.#write(input);
    } catch (error) {
      this.#failed(error);
      throw error;
    }
  }

  /** Input to a process that has ended is dropped: its end is what the run reports. */
  async #write({ key, line }: AgentInput): Promise<void> {
    const { processId, epoch } = await this.#process;
    const data = Buffer.from(line, 'utf8');
    for (;;) {
      if (this.#closed.signal.aborted) throw new AppError('sandbox.input_closed', 'The run has let go of the agent.');
      try {
        await this.connection.input(processId, { key, data, epoch });
        return;
      } catch (error) {
        if (!isAppError(error)) throw error;
        if (error.code === 'sandbox.input_closed' || error.code === 'sandbox.process_not_found') return;
        if (error.code !== 'sandbox.input_full') throw error;
        await pause(error.retryAfterMs ?? INPUT_RETRY_MS, this.#closed.signal);
      }
    }
  }

  close(): void {
    this.#closed.abort();
  }
}
