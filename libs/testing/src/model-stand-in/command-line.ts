// The demo model's command line, apart from the process around it.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type ModelStandIn, startModelStandIn } from './model-stand-in.js';

export const USAGE = `The demo model: a loopback stand-in of Anthropic's Messages API.

  --port <number>   TCP port; 0 (default) takes a free one
  --key-file <path> file with the key that callers must present; it or --key is required
  --key <key>       the key itself: every user of the machine can read it in the list of processes
  --host <address>  address to listen on (default 127.0.0.1)
  --help            this text

Prints one line of JSON when it listens: {"listening":"http://127.0.0.1:PORT"}
`;

/** Requests that a demo keeps in memory: nobody asks for them. */
const KEEP = 1;

/** Starts the demo model as `argv` says and writes where it listens. Undefined when only help was asked for; throws on bad arguments. */
export async function runCommandLine(argv: string[], write: (text: string) => void): Promise<ModelStandIn | undefined> {
  const { values } = parseArgs({
    args: argv,
    options: {
      port: { type: 'string', default: '0' },
      key: { type: 'string' },
      'key-file': { type: 'string' },
      host: { type: 'string', default: '127.0.0.1' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    write(USAGE);
    return undefined;
  }
  const port = Number(values.port);
  if (!/^\d+$/.test(values.port) || port > 65_535) throw new Error('--port must be a number from 0 to 65535');
  const standIn = await startModelStandIn({ port, key: keyOf(values), host: values.host, keep: KEEP });
  write(`${JSON.stringify({ listening: standIn.url })}\n`);
  return standIn;
}

/** The key, from exactly one of the two options; spaces and line ends around it in the file do not count. */
function keyOf(values: { key?: string; 'key-file'?: string }): string {
  const file = values['key-file'];
  if (values.key !== undefined && file !== undefined) throw new Error('--key and --key-file exclude each other');
  const key = file === undefined ? values.key : readFileSync(file, 'utf8').trim();
  if (!key) throw new Error(file === undefined ? '--key-file or --key is required' : `${file} holds no key`);
  return key;
}
