// The demo model's command line, apart from the process around it.
import { parseArgs } from 'node:util';
import { type ModelStandIn, startModelStandIn } from './model-stand-in.js';

export const USAGE = `The demo model: a loopback stand-in of Anthropic's Messages API.

  --port <number>   TCP port; 0 (default) takes a free one
  --key <key>       the key that callers must present (required)
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
      host: { type: 'string', default: '127.0.0.1' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    write(USAGE);
    return undefined;
  }
  const port = Number(values.port);
  if (values.key === undefined || values.key === '') throw new Error('--key is required');
  if (!/^\d+$/.test(values.port) || port > 65_535) throw new Error('--port must be a number from 0 to 65535');
  const standIn = await startModelStandIn({ port, key: values.key, host: values.host, keep: KEEP });
  write(`${JSON.stringify({ listening: standIn.url })}\n`);
  return standIn;
}
