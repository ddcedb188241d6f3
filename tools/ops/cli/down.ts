// `down`: ends live runs as interrupted, then stops what was started, in reverse order. Data stays.
import { stopEngineIfUnused } from '../engine/docker-engine.ts';
import { DockerApi } from '../engine/docker-api.ts';
import { dataLayout } from '../data-layout.ts';
import { instanceLabel, instanceNote } from '../instance.ts';
import { anythingRuns, supervisorOfRunning } from '../supervisor/control-client.ts';
import type { Say } from '../step.ts';
import type { Context } from './context.ts';

/** Ending live runs and stopping their sandboxes takes a worker seconds; a hung one does not hold up the rest for ever. */
const DRAIN_TIMEOUT_MS = 60_000;

export async function down(context: Context): Promise<void> {
  await stopServices(context);
  await stopEngine(context);
}

/** Everything but the engine. */
export async function stopServices(context: Context): Promise<void> {
  const { steps, layout } = context;
  const supervisor = await steps.run('Supervisor', () => supervisorOfRunning(layout));
  if (supervisor) {
    await steps.run('Worker', async (say) => {
      const status = (await supervisor.status()).find(({ name }) => name === 'worker');
      if (status?.state !== 'running') return;
      say('ending live runs and stopping their sandboxes');
      // SIGUSR2 means this to a worker; SIGTERM would hand the runs over to the next one.
      const outcome = await supervisor.stop('worker', { signal: 'SIGUSR2', timeoutMs: DRAIN_TIMEOUT_MS });
      if (outcome === 'killed') say(`it did not end within ${DRAIN_TIMEOUT_MS / 1000} s and was killed`);
    });
  }
  await steps.run('Sandboxes', (say) => stopContainers(context, say));
  if (supervisor) {
    await steps.run('Services', async (say) => {
      const running = (await supervisor.status()).filter(({ state }) => state === 'running').map(({ name }) => name);
      say(`stopping ${running.reverse().join(', ')}`);
      await supervisor.shutDown();
    });
  }
}

/** The engine, if Gantry started it and nothing needs it any more. */
export async function stopEngine({ steps, layout, engine }: Context): Promise<void> {
  await steps.run('Docker engine', async (say) => {
    const outcome = await stopEngineIfUnused(engine, layout.root, (dataDir) => anythingRuns(dataLayout(dataDir)));
    if (outcome === 'stopped') say('stopped, because nothing uses it any more');
    if (outcome === 'containers_running') say('left running, because containers run on it');
    if (outcome === 'used_by_others') say('left running, because another installation uses it');
  });
}

/** Containers of this instance that still run: a worker that was not there, or was killed, left them. */
async function stopContainers({ layout }: Context, say: Say): Promise<void> {
  const note = instanceNote(layout);
  if (!note) return;
  const docker = new DockerApi(note.engineSocket);
  if (!(await docker.version())) return;
  const containers = await docker.containers({ label: instanceLabel(note.instanceId), running: true });
  if (containers.length === 0) return;
  say(`stopping ${containers.length} left by a worker that did not end in order`);
  await Promise.all(containers.map(({ Id }) => docker.stopContainer(Id)));
}
