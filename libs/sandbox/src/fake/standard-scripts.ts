// The programs that every fake sandbox has.
import { type Script, ScriptDeath, type ScriptRegistry } from './fake-script.js';

/** The text that `flood` repeats; 16 bytes, so that an offset tells what must be there. */
export const FLOOD_LINE = '0123456789abcde\n';
const FLOOD_PIECE = Buffer.from(FLOOD_LINE.repeat(1024));

/** echo WORDS: prints them with a newline. */
const echo: Script = async ({ argv, stdout }) => {
  await stdout(`${argv.slice(1).join(' ')}\n`);
  return 0;
};

/** exit CODE */
const exit: Script = async ({ argv }) => Number(argv[1]);

/** cat: copies stdin to stdout. */
const cat: Script = async ({ stdin, stdout }) => {
  for await (const data of stdin) await stdout(data);
  return 0;
};

/** hang [TEXT]: prints the text, then lives until a signal ends it. */
const hang: Script = async ({ argv, stdout, untilKilled }) => {
  if (argv[1] !== undefined) await stdout(`${argv[1]}\n`);
  return untilKilled();
};

/** flood BYTES: prints that many bytes of FLOOD_LINE. */
const flood: Script = async ({ argv, stdout }) => {
  for (let left = Number(argv[1]); left > 0; left -= FLOOD_PIECE.length) {
    await stdout(FLOOD_PIECE.subarray(0, Math.min(left, FLOOD_PIECE.length)));
  }
  return 0;
};

/** route: prints each line of stdin, `err TEXT` to stderr and `out TEXT` to stdout. */
const route: Script = async ({ stdin, stdout, stderr }) => {
  let rest = '';
  for await (const data of stdin) {
    const lines = (rest + Buffer.from(data).toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) await (line.startsWith('err ') ? stderr : stdout)(`${line.slice(4)}\n`);
  }
  return 0;
};

/** trap CODE: prints `ready`; SIGTERM makes it print `got TERM` and exit with the code. */
const trap: Script = async ({ argv, stdout, onSignal, untilKilled }) => {
  const asked = new Promise<void>((resolve) => onSignal('SIGTERM', resolve));
  await stdout('ready\n');
  await Promise.race([asked, untilKilled()]);
  await stdout('got TERM\n');
  return Number(argv[1]);
};

/** family NAME: starts NAME-group, NAME-session and NAME-orphan, and lives until a signal ends it. */
const family: Script = async ({ argv, fork, untilKilled }) => {
  for (const place of ['group', 'session', 'orphan'] as const) fork(`${argv[1] ?? ''}-${place}`, place);
  return untilKilled();
};

/** leave NAME: leaves NAME-orphan behind and ends well. */
const leave: Script = async ({ argv, fork }) => {
  fork(`${argv[1] ?? ''}-orphan`, 'orphan');
  return 0;
};

/** hog: takes memory until the kernel ends it. */
const hog: Script = async () => {
  throw new ScriptDeath('SIGKILL', true);
};

export const STANDARD_SCRIPTS: ScriptRegistry = { echo, exit, cat, hang, flood, route, trap, family, leave, hog };
