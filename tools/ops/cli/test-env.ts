// `test-env`: what tests need and nothing more, kept running in data-test/ between runs; described in data-test/test-env.json.
import { join } from 'node:path';
import { bundleSandboxd } from '../build/bundle-sandboxd.ts';
import { writePrivate } from '../host/private-file.ts';
import { supervisorOfRunning } from '../supervisor/control-client.ts';
import type { Context } from './context.ts';
import { findChromium } from './host-needs.ts';
import {
  prepareEngine,
  prepareHost,
  prepareImage,
  prepareStorage,
  prepareSupervisor,
  prepareTools,
} from './prepare.ts';

/** Starts what is not running. Seconds when everything is there. */
export async function startTestEnv(context: Context): Promise<void> {
  await prepareHost(context, { tests: true });
  const supervisor = await prepareSupervisor(context);
  const { databaseUrl, redisUrl } = await prepareStorage(context, supervisor, { durable: false });
  const engine = await prepareEngine(context);
  const sandboxImage = await prepareImage(context, engine);
  await context.steps.run('sandboxd', () => bundleSandboxd());
  const { folder, node, claude, sandboxd } = await prepareTools(context);
  const description = {
    databaseUrl,
    redisUrl,
    dockerSocket: engine.api.socketPath,
    sandboxImage,
    toolsDir: folder,
    toolFiles: { node, claude, sandboxd },
    chromiumPath: findChromium(),
  };
  const file = join(context.layout.root, 'test-env.json');
  writePrivate(file, `${JSON.stringify(description, null, 2)}\n`);
}

/** Stops the test services; their data stays. */
export async function stopTestEnv(context: Context): Promise<void> {
  await context.steps.run('Test services', async (say) => {
    const supervisor = await supervisorOfRunning(context.layout);
    if (!supervisor) return;
    say('stopping');
    await supervisor.shutDown();
  });
}
