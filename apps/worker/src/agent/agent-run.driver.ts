// Carries out prompts: gives each to the agent of its conversation and follows it to its end.
import type { RunOutcome, RunRecord } from '#domain';
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

  /** A process that has ended with its run has served: its spool may go. One that lives is warm. */
  async finished({ connection }: RunContext, { processId }: RunRecord): Promise<void> {
    if (processId === null) return;
    const info = (await connection.list()).find((process) => process.processId === processId);
    if (info?.state === 'exited') await connection.forget(processId, { epoch: info.epoch });
  }
}
