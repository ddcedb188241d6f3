// The command line behind the Makefile.
import { makeContext } from './ops/cli/context.ts';
import { startTestEnv, stopTestEnv } from './ops/cli/test-env.ts';
const args = process.argv.slice(2);
const context = await makeContext({ env: {}, yes: true, dataFolder: 'data-test' });
if (args.includes('--down')) await stopTestEnv(context);
else await startTestEnv(context);
