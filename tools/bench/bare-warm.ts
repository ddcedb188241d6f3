// The baseline of warm turns: one bare CLI in the same container, fed on its stdin with stream-json, as fast as the program itself can be.
import { spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';

export interface WarmTurn {
  first: number;
  total: number;
}

const ARGV = ['claude', '-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'];

/** Times of `turns` turns; the first one, which has the start of the program in it, is left out. */
export async function bareWarmTurns(
  container: string,
  options: { env: Record<string, string>; user: string; socket: string; prompt: string; turns: number },
): Promise<WarmTurn[]> {
  const env = Object.entries(options.env).flatMap(([key, value]) => ['-e', `${key}=${value}`]);
  const args = ['-H', `unix://${options.socket}`, 'exec', '-i', '-u', options.user, '-w', '/workspace', ...env];
  const child = spawn('docker', [...args, container, ...ARGV, '--include-partial-messages'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      resolve();
    });
  });
  let heard: (line: string) => void = () => undefined;
  let rest = '';
  child.stdout.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) heard(line);
  });
  const turn = (): Promise<WarmTurn> =>
    new Promise((resolve, reject) => {
      void ended.then(() => {
        reject(new Error('the bare CLI ended'));
      });
      const started = performance.now();
      let first: number | undefined;
      heard = (line) => {
        if (line.includes('"text_delta"')) first ??= performance.now() - started;
        if (line.includes('"type":"result"'))
          resolve({ first: first ?? Number.NaN, total: performance.now() - started });
      };
      const message = { type: 'user', message: { role: 'user', content: options.prompt } };
      child.stdin.write(`${JSON.stringify(message)}\n`);
    });
  const times: WarmTurn[] = [];
  for (let index = 0; index <= options.turns; index += 1) times.push(await turn());
  child.stdin.end();
  await ended;
  return times.slice(1);
}
