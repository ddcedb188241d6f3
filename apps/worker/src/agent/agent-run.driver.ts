// Carries out prompts: gives each to the agent of its conversation and follows it to its end.
import type { ProcessExit, RunOutcome, RunRecord } from '#domain';
import { endingReason } from '../runs/process-stopper.js';
import type { RunContext, RunDriver } from '../runs/run-driver.port.js';
import { stoppedOutcome } from '../runs/run-outcomes.js';
import { runAgent } from './agent-run.js';
import type { AgentRunParts } from './agent-run.parts.js';

export class AgentRunDriver implements RunDriver {
  constructor(private readonly parts: AgentRunParts) {}

  async drive(context: RunContext): Promise<RunOutcome> {
    const { claimed } = context;
    const early = claimed.process === null ? endingReason(context) : undefined;
    // Stopped before the agent was given anything: the warm agent of the conversation has no part in it.
    if (early !== undefined) return stoppedOutcome(early, claimed.run, context.activeTime.elapsedMs());
    return runAgent(this.parts, context);
  }

  /**
   * A process that ended with its run is written down as ended, and its spool may go: not before, because the end of the run
   * is read from there if this worker dies. One that lives after an answer is warm; after a stop it survived KILL and is given up.
   */
  async finished({ connection, lease, heldProcess }: RunContext, { status }: RunRecord): Promise<void> {
    if (heldProcess === undefined) return;
    const { processId, processEpoch } = heldProcess;
    const { executions } = this.parts;
    const info = (await connection.list()).find((process) => process.processId === processId);
    const warm = status === 'succeeded' || status === 'failed' || this.parts.warm.keeps(processId);
    if (info?.exit === null && warm) return;
    await executions.processEnded(processId, endOf(info?.exit ?? null), { processEpoch, lease });
    if (info?.state === 'exited') await connection.forget(processId, { epoch: info.epoch });
  }
}

const endOf = (exit: ProcessExit | null) => ({
  state: exit === null || exit.lost === true ? ('lost' as const) : ('exited' as const),
  exitCode: exit?.code ?? null,
  exitSignal: exit?.signal ?? null,
});
