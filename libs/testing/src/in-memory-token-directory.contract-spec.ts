// The in-memory token directory keeps the contract.
import { newId } from '#kernel';
import { describeTokenDirectory } from './contracts/token-directory.contract.js';
import { InMemoryTokenDirectory } from './in-memory-token-directory.js';

describeTokenDirectory('InMemoryTokenDirectory', async () => {
  const directory = new InMemoryTokenDirectory();
  return {
    directory,
    addProcess: async (token) => directory.add(token),
    startRun: async ({ processId }) => {
      const runId = newId();
      directory.setRun(processId, runId);
      return runId;
    },
    endRun: async ({ processId }) => directory.setRun(processId, null),
    endProcess: async ({ processId }) => directory.remove(processId),
    breakDown: async () => {
      directory.outage = 'fail';
    },
    stored: async () => directory.dump(),
  };
});
