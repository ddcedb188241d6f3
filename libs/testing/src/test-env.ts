// Where the test services are: written by `node tools/gantry.ts test-env`, which `make test` runs first.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface TestEnv {
  databaseUrl: string;
  redisUrl: string;
  dockerSocket: string;
  sandboxImage: string;
  toolsDir: string;
  toolFiles: { node: string; claude: string; sandboxd: string };
  chromiumPath: string;
}

let cached: TestEnv | undefined;

/** Throws, and never skips, when the services are not there: a test without its service is a failure. */
export function testEnv(): TestEnv {
  if (cached !== undefined) return cached;
  const file = join(process.cwd(), 'data-test', 'test-env.json');
  if (!existsSync(file)) throw new Error(`${file} is missing: run "make test", or "npm run test:env" first.`);
  cached = JSON.parse(readFileSync(file, 'utf8')) as TestEnv;
  return cached;
}
