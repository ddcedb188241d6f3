// Real worker processes on an instance of their own, to be killed, frozen and cut off; the gateway's side stays in the test.
import { freePort, type ServiceProcess, spawnService, until, waitUntilReady } from '#testing';
import { createWorkerFixture, type FixtureOptions } from '../integration/worker/worker-fixture.js';

export interface WorkerProcess extends ServiceProcess {
  url: string;
}

export interface Readiness {
  status: number;
  checks: Record<string, { status: string; error?: { code: string; details?: object } }>;
}

export type WorkerProcesses = Awaited<ReturnType<typeof createWorkerProcesses>>;

export async function createWorkerProcesses(options: FixtureOptions = {}) {
  const fixture = await createWorkerFixture(options);
  const processes: WorkerProcess[] = [];
  const spawn = async (env: Record<string, string> = {}): Promise<WorkerProcess> => {
    const port = await freePort();
    const service = spawnService({
      name: 'worker',
      env: { ...fixture.environment, WORKER_PORT: String(port), ...env },
    });
    const spawned = { ...service, url: `http://127.0.0.1:${port}` };
    processes.push(spawned);
    return spawned;
  };
  return {
    ...fixture,
    /** Started, not waited for. */
    spawn,
    startProcess: async (env: Record<string, string> = {}): Promise<WorkerProcess> => {
      const started = await spawn(env);
      await waitUntilReady(started, { url: started.url, path: '/readyz' });
      return started;
    },
    /** What /readyz says once it satisfies the condition. */
    readiness: (worker: WorkerProcess, condition: (readiness: Readiness) => boolean): Promise<Readiness> =>
      until(`${worker.url}/readyz gets there`, async () => {
        const readiness = await askReadiness(worker);
        return readiness !== undefined && condition(readiness) ? readiness : undefined;
      }),
    close: async () => {
      await Promise.all(processes.map((one) => one.kill('SIGKILL')));
      await fixture.close();
    },
  };
}

async function askReadiness(worker: WorkerProcess): Promise<Readiness | undefined> {
  try {
    const response = await fetch(`${worker.url}/readyz`);
    const { checks } = (await response.json()) as Pick<Readiness, 'checks'>;
    return { status: response.status, checks };
  } catch {
    return undefined; // not listening yet
  }
}
