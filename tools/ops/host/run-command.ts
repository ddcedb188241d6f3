// Runs a program to its end and gives what it printed.
import { spawn, type SpawnOptions } from 'node:child_process';

export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number | null;
  readonly output: string;

  constructor(command: string, exitCode: number | null, output: string) {
    const tail = output.trim().split('\n').slice(-12).join('\n');
    super(`${command} ${exitCode === null ? 'was ended' : `ended with code ${exitCode}`}${tail ? `:\n${tail}` : ''}`);
    this.exitCode = exitCode;
    this.output = output;
  }
}

export interface RunOptions extends Pick<SpawnOptions, 'cwd' | 'uid' | 'gid'> {
  env?: Record<string, string | undefined>;
  timeoutMs?: number;
  /** Each line as it comes, e.g. to show progress. */
  onLine?: (line: string) => void;
}

/** Resolves to stdout; stderr is kept for the error. Throws `CommandError`, also when the program does not exist. */
export async function runCommand(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { timeoutMs, onLine, env, ...rest } = options;
  const child = spawn(command, args, {
    ...rest,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(timeoutMs === undefined ? {} : { timeout: timeoutMs, killSignal: 'SIGKILL' as const }),
  });
  let stdout = '';
  let all = '';
  const lines = lineSplitter(onLine);
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    all += text;
    lines(text);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    all += text;
    lines(text);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', (error) => reject(new CommandError(`${command}: ${error.message}`, null, '')));
    child.once('close', (exitCode) => resolve(exitCode));
  });
  if (code !== 0) throw new CommandError([command, ...args].join(' '), code, all);
  return stdout;
}

function lineSplitter(onLine: ((line: string) => void) | undefined): (text: string) => void {
  let rest = '';
  return (text) => {
    const parts = (rest + text).split(/\r?\n/);
    rest = parts.pop() ?? '';
    if (onLine) parts.filter((line) => line !== '').forEach(onLine);
  };
}
