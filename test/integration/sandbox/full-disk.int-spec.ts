// A disk that is full under the spools: output waits, nothing is lost, and the rest of the sandbox goes on.
import { createHash } from 'node:crypto';
import { DockerEngineProbe } from './docker-engine.probe.js';
import { DockerSandboxFixture, TEST_LIMITS } from './docker-sandbox.fixture.js';
import { eventually } from './eventually.js';
import { finishCommand, runShell } from './run-command.js';

jest.setTimeout(60_000);

const MIB = 1024 * 1024;
const fixture = new DockerSandboxFixture();
const engine = new DockerEngineProbe(fixture.instanceId);
beforeAll(() => fixture.start());
afterAll(() => fixture.stop());

it('SBX-11 a full disk holds output back and drops none; what is acknowledged makes room', async () => {
  const spec = fixture.spec({ limits: { ...TEST_LIMITS, spoolBytes: 64 * MIB } });
  await fixture.runtime.ensure(spec);
  await fixture.runtime.remove(spec.sandboxId, { data: false });
  await engine.replaceVolume(`${spec.sandboxId}-spool`, 6 * MIB);
  await fixture.runtime.ensure(spec);
  const connection = await fixture.runtime.connect(spec.sandboxId, { hostEpoch: 1 });
  const bytes = 20 * MIB;
  const argv = ['sh', '-c', `yes 0123456789abcde | head -c ${bytes}`];
  await connection.start({ processId: 'flood', argv, cwd: '/', env: {}, stdin: 'null', epoch: 1 });
  // It is stuck when the head has not moved for a while although the process runs.
  let last = -1;
  await eventually(
    async () => {
      const { headOffset } = await connection.info('flood');
      await runShell(connection, 'sleep 0.5').catch((error: unknown) =>
        expect(error).toMatchObject({ code: 'sandbox.spool_full' }),
      );
      const stuck = headOffset > 4 * MIB && headOffset === last;
      last = headOffset;
      return stuck;
    },
    (stuck) => stuck,
  );
  expect(last).toBeLessThan(6 * MIB);
  const { stdout, exit } = await finishCommand(connection, 'flood');
  const expected = createHash('sha256')
    .update('0123456789abcde\n'.repeat(bytes / 16))
    .digest('hex');
  expect([createHash('sha256').update(stdout).digest('hex'), exit.code]).toEqual([expected, 0]);
  expect((await runShell(connection, 'echo room again')).stdout).toBe('room again\n');
  connection.close();
});
