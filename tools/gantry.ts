// The command line behind the Makefile: `node tools/gantry.ts <command>`. Errors that a person can act on were printed by their step.
import { runCommandLine } from './ops/cli/command-line.ts';

process.exitCode = await runCommandLine(process.argv.slice(2), process.env);
