// The supervisor's process: `node main.ts <data folder>`. One runs per instance; it survives the terminal that started it.
import { dataLayout } from '../data-layout.ts';
import { serveControl } from './control-server.ts';
import type { LogLimits } from './service-log.ts';
import type { ServiceSpec, StopRequest } from './service-spec.ts';
import { Supervisor } from './supervisor.ts';
import { supervisorVersion } from './supervisor-version.ts';

const [root] = process.argv.slice(2);
if (!root) throw new Error('usage: main.ts <data folder>');
const layout = dataLayout(root);
const version = supervisorVersion();
const supervisor = new Supervisor(layout);
supervisor.adoptRecorded();

const server = await serveControl(layout.supervisorSocket, {
  questions: {
    info: async () => ({ pid: process.pid, version }),
    status: async () => supervisor.statuses,
  },
  commands: {
    apply: async (body) => {
      const { specs, renew } = body as { specs: ServiceSpec[]; renew: string[] };
      await supervisor.apply(specs, renew);
      return supervisor.statuses;
    },
    stop: async (body) => {
      const { name, ...how } = body as { name: string } & Partial<StopRequest>;
      return { outcome: await supervisor.stop(name, how) };
    },
    'limit-logs': async (body) => supervisor.limitLogs(body as LogLimits),
    remove: async (body) => supervisor.remove((body as { name: string }).name),
    leave: async () => end(),
    'shut-down': async () => {
      await supervisor.stopAll();
      end();
    },
  },
});

/** Stops listening, so that the process ends when the last answer is out. */
function end(): void {
  supervisor.close();
  server.close();
  setImmediate(() => server.closeIdleConnections());
  // Adopted services are still looked at by timers: nothing of that matters any more.
  server.once('close', () => process.exit(0));
}

// The machine shuts down, or someone ends us by hand: what we started ends with us.
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    supervisor.stopAll().then(end, (error: unknown) => {
      console.error(error);
      process.exit(1);
    });
  });
}
