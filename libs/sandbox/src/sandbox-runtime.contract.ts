// The contract of SandboxRuntime, run against every adapter: what the worker may rely on. Rules: docs/spec/sandboxd.md.
import type { ContractHarness } from './contract/contract-harness.js';
import { epochContract } from './contract/epoch.contract.js';
import { inputContract } from './contract/input.contract.js';
import { lifecycleContract } from './contract/lifecycle.contract.js';
import { outputContract } from './contract/output.contract.js';
import { processContract } from './contract/process.contract.js';
import { signalContract } from './contract/signal.contract.js';

export type { ContractCommands, ContractHarness } from './contract/contract-harness.js';

/** `createHarness` is called once; everything it made is gone after `stop`. */
export function sandboxRuntimeContract(name: string, createHarness: () => Promise<ContractHarness>): void {
  describe(`SandboxRuntime: ${name}`, () => {
    let harness: ContractHarness;
    beforeAll(async () => (harness = await createHarness()));
    afterAll(() => harness.stop());
    for (const contract of [
      processContract,
      outputContract,
      inputContract,
      epochContract,
      signalContract,
      lifecycleContract,
    ]) {
      contract(() => harness);
    }
  });
}
