// The worker as it is, on sandboxes in memory whose one program does nothing: what the engine itself costs. A process of its own, told by
// its environment what any worker is told; says `ready` to its parent when it holds its host.
import { join } from 'node:path';
import { loadWorkerConfig } from '#config';
import type { SandboxRuntime } from '#domain';
import { createLogger, type Logger } from '#observability';
import { FakeSandboxRuntime } from '#sandbox/fake';

interface WorkerModule {
  createWorkerApp: (options: {
    config: ReturnType<typeof loadWorkerConfig>;
    migrationsDir: string;
    logger: Logger;
    makeRuntime: () => SandboxRuntime;
  }) => { listen(): Promise<{ port: number }>; shutDown(): Promise<void> };
}

// Built code: the worker's sources are not erasable TypeScript.
const built = new URL('../../dist/apps/worker/src/worker-app.js', import.meta.url).href;
const { createWorkerApp } = (await import(built)) as WorkerModule;

const worker = createWorkerApp({
  config: loadWorkerConfig(process.env),
  migrationsDir: join(import.meta.dirname, '..', '..', 'prisma', 'migrations'),
  logger: createLogger({ service: 'worker', level: 'warn' }),
  makeRuntime: () => new FakeSandboxRuntime({ scripts: { noop: async () => 0 } }),
});
const { port } = await worker.listen();
process.send?.({ port });
process.once('disconnect', () => {
  void worker.shutDown().then(() => process.exit(0));
});
