// Backup and restore by the command line alone, with the real services and the real agent.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SocketClient } from '#testing';
import { checkout } from '../checkout.ts';

const TIMEOUT_MS = 240_000;

let folder: string;
let dataDir: string;
/** Beside the data folder: a user's own. */
const projects = (): string => join(folder, 'projects');
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gantry-backup-'));
  dataDir = join(folder, 'data');
  chmodSync(folder, 0o711); // Postgres' user must get through
  mkdirSync(projects());
});
afterEach(async () => {
  await gantry('reset', '--yes');
  rmSync(folder, { recursive: true });
}, TIMEOUT_MS);

async function gantry(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [join(checkout, 'tools', 'bootstrap.mjs'), ...args], {
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      GANTRY_DATA_DIR: dataDir,
      GANTRY_PROJECT_ROOTS: projects(),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const outcome = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (outcome.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (outcome.stderr += text));
  const [code] = (await once(child, 'close')) as [number];
  return { code, ...outcome };
}

async function done(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await gantry(...args);
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

async function connect(): Promise<SocketClient> {
  const [, url = '', token = ''] = (await done('up')).trim().split(' ');
  return SocketClient.connect(url, { token });
}

async function finished(client: SocketClient, run_id: string): Promise<unknown> {
  const event = await client.waitFor('event', (each) => each.type === 'run.finished' && each.run_id === run_id, 60_000);
  return event.payload['status'];
}

/** All that a client can see of a project's past. */
async function past(client: SocketClient, project_id: string, command_session_id: string) {
  const [{ messages }, { runs }, { output }] = [
    await client.call('get_messages', { project_id, after_seq: 0, limit: 500 }),
    await client.call('run_list', { project_id }),
    await client.call('get_command_output', { command_session_id }),
  ];
  return { messages, runs, output };
}

it(
  'OPS-40 brings back runs, history and output as they were, and a conversation goes on',
  async () => {
    let client = await connect();
    const { project_id } = await client.call('project_create', { path: join(projects(), 'kept') });
    await client.call('project_join', { project_id });
    const prompt = await client.call('execute', { project_id, prompt: 'hello' });
    expect(await finished(client, prompt.run_id)).toBe('succeeded');
    const command = await client.call('execute_command', {
      project_id,
      command: 'seq 1 20000; printf "€\\\\t\\\\0end"',
    });
    expect(await finished(client, command.run_id)).toBe('succeeded');
    const before = await past(client, project_id, command.command_session_id);
    const file = join(folder, 'saved.backup');
    expect((await done('backup', '--to', file)).trim()).toBe(file);

    const later = await client.call('execute_command', { project_id, command: 'echo later' });
    expect(await finished(client, later.run_id)).toBe('succeeded');
    client.close();
    const asked = await gantry('restore', '--from', file);
    expect([asked.code, asked.stderr]).toEqual([1, expect.stringContaining('YES=1')]);
    writeFileSync(join(folder, 'nonsense'), 'nonsense');
    expect((await gantry('restore', '--from', join(folder, 'nonsense'), '--yes')).stderr).toMatch(/cannot be used/);
    // As on a new machine with the same engine: nothing is left but the file and the project's folder.
    await done('reset', '--yes');
    await done('restore', '--from', file, '--yes');
    expect(existsSync(`${file}.partial`)).toBe(false);

    client = await connect();
    await client.call('project_join', { project_id });
    expect(await past(client, project_id, command.command_session_id)).toEqual(before);
    const next = await client.call('execute', { project_id, prompt: 'and on' });
    expect(next.session_id).toBe(prompt.session_id);
    expect(await finished(client, next.run_id)).toBe('succeeded');
    client.close();
  },
  TIMEOUT_MS,
);
