// Runs a command in a sandbox to its end, for tests that look at what the sandbox is like from inside.
import { newId } from '#kernel';
import type { ProcessExit, SandboxConnection, StartProcess } from '#domain';

export interface CommandResult {
  processId: string;
  stdout: string;
  stderr: string;
  exit: ProcessExit;
}

export async function runCommand(
  connection: SandboxConnection,
  argv: string[],
  changes: Partial<StartProcess> = {},
): Promise<CommandResult> {
  const processId = changes.processId ?? newId();
  const request = { argv, cwd: '/workspace', env: {}, stdin: 'null' as const, epoch: 1 };
  await connection.start({ ...request, ...changes, processId });
  return finishCommand(connection, processId);
}

export const runShell = (
  connection: SandboxConnection,
  script: string,
  changes: Partial<StartProcess> = {},
): Promise<CommandResult> => runCommand(connection, ['sh', '-c', script], changes);

/** Reads a started process to its end, and acknowledges as it reads. */
export async function finishCommand(connection: SandboxConnection, processId: string): Promise<CommandResult> {
  const output = await connection.attach(processId, { fromOffset: 0, epoch: 1 });
  const parts: { stdout: Buffer[]; stderr: Buffer[] } = { stdout: [], stderr: [] };
  for await (const { channel, offset, data } of output) {
    parts[channel === 'stderr' ? 'stderr' : 'stdout'].push(Buffer.from(data));
    await connection.acknowledge(processId, { offset: offset + data.length, epoch: 1 });
  }
  return {
    processId,
    stdout: Buffer.concat(parts.stdout).toString('utf8'),
    stderr: Buffer.concat(parts.stderr).toString('utf8'),
    exit: await output.ended,
  };
}
