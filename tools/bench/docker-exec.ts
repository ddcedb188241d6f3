// The baseline: the same program in the same container, by `docker exec` through the engine's API, as a user would script it.
import { spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';

export interface ExecTimes {
  firstByteMs: number;
  totalMs: number;
  output: string;
}

/** Runs `docker exec` as the sandbox's user; `until` decides which output counts as the first byte. */
export function dockerExec(
  container: string,
  options: { argv: string[]; env?: Record<string, string>; user: string; socket: string; until?: RegExp },
): Promise<ExecTimes> {
  const env = Object.entries(options.env ?? {}).flatMap(([key, value]) => ['-e', `${key}=${value}`]);
  const args = ['-H', `unix://${options.socket}`, 'exec', '-u', options.user, '-w', '/workspace', ...env, container];
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn('docker', [...args, ...options.argv], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let firstByteMs: number | undefined;
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      if (options.until === undefined || options.until.test(output)) firstByteMs ??= performance.now() - started;
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('error', reject);
    child.on('close', (code) => {
      if (code !== 0) reject(new Error(`docker exec ended with ${String(code)}: ${output.slice(0, 2000)}`));
      else resolve({ firstByteMs: firstByteMs ?? Number.NaN, totalMs: performance.now() - started, output });
    });
  });
}
