import { type SocketProxy, startSocketProxy, testEnv } from '#testing';
import { createWorkerProcesses, type WorkerProcesses } from './worker-processes.js';

let workers: WorkerProcesses;
let postgres: SocketProxy;
let environment: Record<string, string>;
const setUp = async (options: { cut: boolean }) => {
  workers = await createWorkerProcesses();
  const { hostname, port } = new URL(testEnv().databaseUrl);
  postgres = await startSocketProxy({ port: 0 }, { host: hostname, port: Number(port) }, options);
  const url = new URL(workers.database.url);
  url.hostname = '127.0.0.1';
  environment = {};
  const through = () => {
    url.port = String(postgres.port);
    return url.toString();
  };
  return {
    start: async () => {
      environment = { DATABASE_URL: through() };
      return workers.spawn(environment);
    },
  };
};
afterEach(async () => {
  await postgres.close();
  await workers.close();
}, 60_000);

const slow = 'i=0; while [ $i -lt 120 ]; do i=$((i+1)); echo "line $i"; sleep 0.05; done; exit 5';
const lines = Array.from({ length: 120 }, (_, index) => `line ${index + 1}\n`).join('');

describe('Postgres', () => {
  it('ENG-11, ENG-33 may go away for longer than a lease: output waits in the spool and catches up, once', async () => {
    const { start } = await setUp({ cut: false });
    const worker = await start();
    const project = await workers.project(workers.dataDir);
    const { runId } = await workers.command(project.projectId, { shell: slow });
    await workers.printed(runId, 'line 10\n');
    await postgres.cut();
    await worker.waitForLine(/lease let go/);
    await postgres.heal();
    expect(await workers.ended(runId)).toMatchObject({ status: 'failed', exitCode: 5 });
    expect((await workers.output(runId)).all).toBe(lines);
    await workers.readiness(worker, ({ status }) => status === 200);
  }, 60_000);

  it('ENG-24 may break every connection for a moment, again and again', async () => {
    const { start } = await setUp({ cut: false });
    await start();
    const project = await workers.project(workers.dataDir);
    const { runId } = await workers.command(project.projectId, { shell: slow });
    for (const line of ['line 10\n', 'line 30\n', 'line 50\n', 'line 70\n']) {
      await workers.printed(runId, line);
      await postgres.cut();
      await postgres.heal();
    }
    expect(await workers.ended(runId)).toMatchObject({ status: 'failed', exitCode: 5 });
    expect((await workers.output(runId)).all).toBe(lines);
  }, 60_000);
});
