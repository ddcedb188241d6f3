// sandboxd: the main process of every sandbox. Puts the parts together; docs/spec/sandboxd.md says what they promise.
import { chmodSync, chownSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '#kernel';
import { startBrokerForwarder } from './broker-forwarder.js';
import { type Configuration, parseConfiguration } from './configuration.js';
import { missingFromImage } from './image-check.js';
import type { Job } from './jobs/job.js';
import { JobTable } from './jobs/job-table.js';
import { Launcher } from './processes/launcher.js';
import { MemoryWatch, readMemoryCounters } from './processes/memory-watch.js';
import { PipeStock } from './processes/pipe-stock.js';
import { ProcessTrees } from './processes/process-trees.js';
import { HostFence } from './server/host-fence.js';
import { RequestHandler } from './server/request-handler.js';
import { SupervisorServer } from './server/supervisor-server.js';
import { SEGMENT_BYTES } from './spool/spool.js';

/** Exit code when the image lacks something; the Docker adapter reads the log line that says what. */
const EXIT_IMAGE_UNSUPPORTED = 64;
/** How long jobs have between SIGTERM and SIGKILL when the sandbox stops. */
const STOP_GRACE_MS = 1500;

/** One JSON object a line on stderr, which is the container's log. */
const log = (event: string, facts: Record<string, unknown> = {}): void => {
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), event, ...facts })}\n`);
};

/** The user's home is a volume, which Docker makes as root's. Its top alone changes hands; nothing is chowned recursively (R21). */
function giveHome({ uid, gid, home }: Configuration['user']): void {
  const owner = statSync(home);
  if (owner.uid === uid && owner.gid === gid) return;
  if (owner.uid === 0) chmodSync(home, 0o700);
  chownSync(home, uid, gid);
}

async function start(configuration: Configuration): Promise<void> {
  process.setgroups?.([]);
  const { user, spoolFolder } = configuration;
  giveHome(user);
  const pipes = new PipeStock(configuration.pipeFolder, user, (error) => log('no_pipes', { message: error.message }));
  const missing = missingFromImage(user, pipes);
  if (missing.length > 0) {
    log('image_unsupported', { missing });
    process.exit(EXIT_IMAGE_UNSUPPORTED);
  }
  mkdirSync(spoolFolder, { recursive: true });
  chmodSync(spoolFolder, 0o700);
  const bootId = newId();
  const jobs = new JobTable({
    root: join(spoolFolder, 'jobs'),
    bootId,
    limits: { capBytes: configuration.spoolBytes, segmentBytes: SEGMENT_BYTES },
    launcher: new Launcher(user, process.env, pipes),
    trees: new ProcessTrees(),
    memory: new MemoryWatch<Job>(readMemoryCounters),
    log,
  });
  await startBrokerForwarder({ port: configuration.brokerPort, brokerSocket: configuration.brokerSocket, log });
  const server = new SupervisorServer({
    bootId,
    handler: new RequestHandler(jobs, readMemoryCounters),
    fence: new HostFence(join(spoolFolder, 'host-epoch'), (error) => log('disk_error', { error: String(error) })),
    log,
  });
  process.once('SIGTERM', () => {
    void jobs.endAll(STOP_GRACE_MS).finally(() => {
      server.close();
      process.exit(0);
    });
  });
  await server.listen(configuration.socket);
  log('ready', { boot_id: bootId });
}

start(parseConfiguration(process.env)).catch((error: unknown) => {
  log('failed', { error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  process.exit(1);
});
