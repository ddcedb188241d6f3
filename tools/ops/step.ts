// Steps of a command: visible progress, seconds per step, silence when there was nothing to do, and failures that name the next thing to do.

/** A failure that a person can act on: what went wrong and what to do next. */
export class StepError extends Error {
  override readonly name = 'StepError';
  readonly next: string;

  constructor(reason: string, next: string, cause?: unknown) {
    super(reason, cause === undefined ? undefined : { cause });
    this.next = next;
  }
}

/** Says what a step does right now. The first call makes the step visible. */
export type Say = (what: string) => void;

export interface StepOutput {
  write(text: string): void;
}

const NEXT_UNKNOWN = 'Read the logs (make logs) and try again; if it stays, report it with this message.';

export class Steps {
  readonly #out: StepOutput;
  readonly #now: () => number;

  constructor(out: StepOutput = process.stderr, now: () => number = () => performance.now()) {
    this.#out = out;
    this.#now = now;
  }

  /**
   * Runs one step. Nothing is printed unless it says something: then each saying is a line, and the end a line with the seconds.
   * A failure is printed with its reason and next step, and thrown again as `ReportedFailure`.
   */
  async run<T>(name: string, work: (say: Say) => Promise<T> | T): Promise<T> {
    const start = this.#now();
    const said: string[] = [];
    const say: Say = (what) => {
      said.push(what);
      this.#out.write(`  ${name}: ${what}\n`);
    };
    try {
      const result = await work(say);
      if (said.length > 0) this.#out.write(`✓ ${name} (${this.#seconds(start)})\n`);
      return result;
    } catch (error) {
      this.#out.write(describeFailure(name, this.#seconds(start), error));
      throw new ReportedFailure(name, error);
    }
  }

  #seconds(start: number): string {
    return `${((this.#now() - start) / 1000).toFixed(1)} s`;
  }
}

/** A failure that was already printed: whoever catches it only ends with a non-zero code. */
export class ReportedFailure extends Error {
  override readonly name = 'ReportedFailure';

  constructor(step: string, cause: unknown) {
    super(`${step} failed`, { cause });
  }
}

function describeFailure(step: string, seconds: string, error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  const next = error instanceof StepError ? error.next : NEXT_UNKNOWN;
  const indented = reason.replaceAll('\n', '\n          ');
  return `✗ ${step} failed after ${seconds}\n  Reason: ${indented}\n  Next:   ${next.replaceAll('\n', '\n          ')}\n`;
}
