// A service for the supervisor's tests. Arguments: `line <text>` prints, `exit <code>` ends, `hold` stays, `deaf` ignores SIGTERM,
// `drain` ends on SIGUSR2, `late` only says that it was asked to, `listen <path>` takes a socket over,
// `lines <bytes>` keeps printing numbered lines of that length, `child` starts a grandchild in the same group and prints its pid, `env <name>` prints a variable. They are worked off in order.
import { spawn } from 'node:child_process';
import { renameSync } from 'node:fs';
import { createServer } from 'node:net';

const words = process.argv.slice(2);
for (let at = 0; at < words.length; at++) {
  const word = words[at];
  if (word === 'line') console.log(words[++at]);
  if (word === 'lines') writeLines(words[++at]);
  if (word === 'env') console.log(process.env[words[++at]] ?? 'unset');
  if (word === 'exit') process.exit(Number(words[++at]));
  if (word === 'deaf') process.on('SIGTERM', () => console.log('deaf to SIGTERM'));
  if (word === 'drain') process.on('SIGUSR2', () => (console.log('drained'), process.exit(0)));
  if (word === 'late') process.on('SIGTERM', () => console.log('asked to finish'));
  if (word === 'listen') listenByRename(words[++at]);
  if (word === 'child') console.log(`child ${spawn('sleep', ['600'], { stdio: 'ignore' }).pid}`);
  if (word === 'hold') setInterval(() => undefined, 1_000_000);
}

function listenByRename(path) {
  const own = `${path}.${process.pid}`;
  createServer().listen(own, () => (renameSync(own, path), console.log('listening')));
}

function writeLines(bytes) {
  let count = 0;
  setInterval(() => console.log(String(count++).padStart(Number(bytes), '0')), 1);
}
