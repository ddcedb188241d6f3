// The BullMQ processor of runs: a delivery is only a hint to look at a run, so all it does is attach it.
import type { RunJobProcessor } from '#jobs';
import type { RunRegistry } from './run-registry.js';

/** Three plain parameters, see RunJobProcessor. Never rejects for a run's own failure (R2). */
export function createRunProcessor(registry: Pick<RunRegistry, 'attach'>): RunJobProcessor {
  return async (dispatch, _token, _signal) => {
    await registry.attach(dispatch);
  };
}
