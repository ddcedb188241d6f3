// Stopping a process and everything it started: INT, then TERM, then KILL, each to the whole tree (R13).
import { isAppError, type Clock, systemClock } from '#kernel';
import type { ProcessSignal, SandboxConnection } from '#domain';
import { pause } from '../timing/pause.js';

export interface StopSteps {
  /** How long a process may take after INT, ms. */
  interruptMs: number;
  /** How long it may take after TERM, and what it left behind after that, ms. */
  terminateMs: number;
  /** KILL is repeated at this interval until the process is gone, ms. */
  killMs: number;
  /** After this many KILLs it is given up. */
  kills: number;
}

export const STOP_STEPS: StopSteps = { interruptMs: 2_000, terminateMs: 3_000, killMs: 1_000, kills: 10 };

export interface StopTarget {
  connection: Pick<SandboxConnection, 'signal'>;
  processId: string;
  epoch: number;
  /** Settles when the process has exited. */
  exited: Promise<unknown>;
}

/**
 * Resolves true when the process is gone and what it left behind was killed; false if even KILL did not end it. Throws what the
 * connection throws, except for a process that does not exist (any more).
 */
export async function stopProcess(
  target: StopTarget,
  steps: StopSteps = STOP_STEPS,
  clock: Clock = systemClock,
): Promise<boolean> {
  const ladder = new StopLadder(target, clock);
  const gone =
    (await ladder.interrupt(steps.interruptMs)) ||
    (await ladder.step('SIGTERM', steps.terminateMs)) ||
    (await ladder.killUntilGone(steps));
  if (gone) await ladder.sweep(steps);
  return gone;
}

class StopLadder {
  private exited = false;
  private readonly exit: Promise<void>;

  constructor(
    private readonly target: StopTarget,
    private readonly clock: Clock,
  ) {
    const settled = () => {
      this.exited = true;
    };
    this.exit = target.exited.then(settled, settled);
  }

  /** A process that is held still hears INT when it goes on. */
  async interrupt(waitMs: number): Promise<boolean> {
    const delivered = await this.send('SIGINT');
    if (delivered === undefined) return true;
    await this.send('SIGCONT');
    return this.goneWithin(waitMs);
  }

  /** Whether the process is gone within `waitMs` of the signal. */
  async step(signal: ProcessSignal, waitMs: number): Promise<boolean> {
    const delivered = await this.send(signal);
    if (delivered === undefined) return true;
    return this.goneWithin(waitMs);
  }

  async killUntilGone({ kills, killMs }: StopSteps): Promise<boolean> {
    for (let i = 0; i < kills; i += 1) if (await this.step('SIGKILL', killMs)) return true;
    return false;
  }

  /** What the process left behind gets TERM, a moment, and KILL. */
  async sweep({ terminateMs }: StopSteps): Promise<void> {
    const until = this.clock.monotonicMs() + terminateMs;
    // CONT changes nothing for a process that runs: it only counts them.
    for (let left = await this.send('SIGTERM'); left !== undefined && left > 0; left = await this.send('SIGCONT')) {
      if (this.clock.monotonicMs() >= until) {
        await this.send('SIGKILL');
        return;
      }
      await pause(SWEEP_INTERVAL_MS);
    }
  }

  /** How many processes got it; undefined when there is nothing left that could be signalled. */
  private async send(signal: ProcessSignal): Promise<number | undefined> {
    const { connection, processId, epoch } = this.target;
    try {
      return (await connection.signal(processId, { signal, scope: 'tree', epoch })).delivered;
    } catch (error) {
      if (isAppError(error) && error.code === 'sandbox.process_not_found') return undefined;
      throw error;
    }
  }

  private async goneWithin(ms: number): Promise<boolean> {
    if (this.exited) return true;
    const late = new AbortController();
    await Promise.race([this.exit, pause(ms, late.signal)]);
    late.abort();
    return this.exited;
  }
}

const SWEEP_INTERVAL_MS = 100;
