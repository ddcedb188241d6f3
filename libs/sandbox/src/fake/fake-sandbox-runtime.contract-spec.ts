// The fake keeps the contract, or tests that use it prove nothing.
import { newId } from '#kernel';
import { sandboxRuntimeContract } from '../sandbox-runtime.contract.js';
import { FakeSandboxRuntime } from './index.js';

const MIB = 1024 * 1024;

sandboxRuntimeContract('fake', async () => {
  const runtime = new FakeSandboxRuntime();
  return {
    runtime,
    commands: {
      echo: (text) => ['echo', text],
      exit: (code) => ['exit', String(code)],
      cat: () => ['cat'],
      hang: (text) => ['hang', text],
      flood: (bytes) => ['flood', String(bytes)],
      route: () => ['route'],
      trap: (code) => ['trap', String(code)],
      family: (name) => ['family', name],
      leave: (name) => ['leave', name],
      hog: () => ['hog'],
    },
    spec: (limits) => ({
      sandboxId: newId(),
      projectId: newId(),
      image: 'any',
      workspacePath: '/any',
      uid: 1000,
      gid: 1000,
      limits: { memoryBytes: 512 * MIB, cpus: 1, pids: 64, tmpBytes: MIB, spoolBytes: 8 * MIB, ...limits },
    }),
    crash: async (sandboxId) => runtime.crash(sandboxId),
    family: async (sandboxId, name) =>
      runtime
        .forkedIn(sandboxId)
        .filter((child) => child.startsWith(`${name}-`))
        .map((child) => child.slice(name.length + 1))
        .sort(),
    spoolIsHere: true,
    largeBytes: 20 * MIB,
    stop: async () => undefined,
  };
});
