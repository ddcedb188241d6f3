// Process of the demo model: `node main.js --port 0 --key-file <path>`.
import { runCommandLine, USAGE } from './command-line.js';

async function main(): Promise<void> {
  const standIn = await runCommandLine(process.argv.slice(2), (text) => process.stdout.write(text));
  if (standIn === undefined) return;
  const stop = (): void => {
    standIn.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exitCode = 1;
});
