// The contract over a real engine, real containers and sandboxd.
import { DockerEngineProbe } from '../../../../test/integration/sandbox/docker-engine.probe.js';
import { DockerSandboxFixture } from '../../../../test/integration/sandbox/docker-sandbox.fixture.js';
import { FAMILY_SCRIPT, LEAVE_SCRIPT } from '../../../../test/integration/sandbox/family.scripts.js';
import { sandboxRuntimeContract } from '../sandbox-runtime.contract.js';
import { FLOOD_UNIT } from '../contract/contract-harness.js';

jest.setTimeout(60_000);

const MIB = 1024 * 1024;
const sh = (script: string, ...words: string[]): string[] => ['sh', '-c', script, 'sh', ...words];

sandboxRuntimeContract('docker', async () => {
  const fixture = await new DockerSandboxFixture().start();
  const engine = new DockerEngineProbe(fixture.instanceId);
  return {
    runtime: fixture.runtime,
    commands: {
      echo: (text) => ['echo', text],
      exit: (code) => sh('exit "$1"', String(code)),
      cat: () => ['cat'],
      hang: (text) => sh('echo "$1"; exec sleep 100000', text),
      flood: (bytes) => sh('yes "$1" | head -c "$2"', FLOOD_UNIT.trim(), String(bytes)),
      route: () =>
        sh('while read -r to text; do if [ "$to" = err ]; then echo "$text" >&2; else echo "$text"; fi; done'),
      trap: (code) =>
        sh(
          'exec 2>/dev/null; trap "echo got TERM; exit $1" TERM; echo ready; while :; do sleep 0.01; done',
          String(code),
        ),
      family: (name) => sh(FAMILY_SCRIPT, name),
      leave: (name) => sh(LEAVE_SCRIPT, name),
      hog: () => ['tail', '/dev/zero'],
    },
    spec: (limits) => {
      const spec = fixture.spec();
      return { ...spec, limits: { ...spec.limits, memoryBytes: 256 * MIB, tmpBytes: 32 * MIB, ...limits } };
    },
    crash: (sandboxId) => engine.kill(sandboxId),
    family: (sandboxId, name) => engine.family(sandboxId, name),
    spoolIsHere: false,
    largeBytes: 100 * MIB,
    stop: () => fixture.stop(),
  };
});
