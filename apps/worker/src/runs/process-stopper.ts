// Stops the process of a run when the run is told to stop.
import type { ProcessRecord } from '#domain';
import { logError } from '#observability';
import type { RunContext, StopReason } from './run-driver.port.js';
import type { EndingReason } from './run-outcomes.js';
import { STOP_STEPS, stopProcess, type StopSteps } from './stop-ladder.js';

/** Why the run ends before its time; undefined while it may go on, and when this worker only lets go. */
export function endingReason({ stop }: Pick<RunContext, 'stop'>): EndingReason | undefined {
  const reason = stop.reason as StopReason | undefined;
  return reason === undefined || reason.kind === 'detach' ? undefined : reason;
}

export interface ProcessStopperParts {
  context: RunContext;
  process: Pick<ProcessRecord, 'processId' | 'epoch'>;
  /** Settles when the process has exited. */
  exited: Promise<unknown>;
  /** The ladder came to its end without the process, or could not be climbed: nothing more will come of it. */
  gaveUp: () => void;
  steps?: StopSteps;
}

export class ProcessStopper {
  private stopping: Promise<void> | undefined;
  private failure: { error: unknown } | undefined;
  private readonly begin = () => {
    if (endingReason(this.parts.context) !== undefined) this.stopping ??= this.climb();
  };

  constructor(private readonly parts: ProcessStopperParts) {
    const { stop } = parts.context;
    if (stop.aborted) this.begin();
    else stop.addEventListener('abort', this.begin, { once: true });
  }

  /** Resolves when a stop that began has killed what the process left behind. Throws what kept it from doing so. */
  async settled(): Promise<void> {
    await this.stopping;
    if (this.failure !== undefined) throw this.failure.error;
  }

  close(): void {
    this.parts.context.stop.removeEventListener('abort', this.begin);
  }

  private async climb(): Promise<void> {
    const { context, process, exited, gaveUp, steps = STOP_STEPS } = this.parts;
    const { processId, epoch } = process;
    context.logger.info({ process_id: processId, why: endingReason(context)?.kind }, 'stopping a process');
    try {
      const gone = await stopProcess({ connection: context.connection, processId, epoch, exited }, steps);
      if (gone) return;
      context.logger.error({ process_id: processId }, 'a process survived KILL');
    } catch (error) {
      logError(context.logger, error, { doing: 'stop process', process_id: processId });
      this.failure = { error };
    }
    gaveUp();
  }
}
