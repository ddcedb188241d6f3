// `backup` and `restore`: what cannot be made again, in one file. Also while Gantry runs; a restore stops it first.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  type BackupHeader,
  type BackupWriter,
  checkBackup,
  createBackupWriter,
  readBackup,
} from '../backup/backup-file.ts';
import { dumpDatabase } from '../backup/database-dump.ts';
import { loadDatabase, requireKnownSchema } from '../backup/database-load.ts';
import { dumpHomes, loadHomes } from '../backup/home-volumes.ts';
import { buildChanged } from '../build/build.ts';
import { checkout } from '../checkout.ts';
import type { DataLayout } from '../data-layout.ts';
import { DockerApi } from '../engine/docker-api.ts';
import { PortBook } from '../host/free-port.ts';
import { readIfPresent, writePrivate } from '../host/private-file.ts';
import { instanceLabel, instanceNote } from '../instance.ts';
import { ownPostgresUrl } from '../services/postgres.ts';
import { StepError } from '../step.ts';
import type { Context } from './context.ts';
import { stopServices } from './down.ts';
import { prepareEngine, prepareHost, prepareImage, prepareStorage, prepareSupervisor } from './prepare.ts';
import type { Question } from './reset.ts';

const migrationsDir = join(checkout, 'prisma', 'migrations');

/** Files of the data folder that nothing else brings back. */
const filesOf = (layout: DataLayout): Record<string, string> => ({
  'admin-token': layout.adminToken,
  model: layout.model,
});

/** Gives the file that was written. */
export async function backup({ steps, config, layout }: Context, to: string | undefined): Promise<string> {
  const path = await steps.run('File', () => newFile(to));
  await steps.run('Backup', async (say) => {
    say(`writing ${path}`);
    const writer = createBackupWriter(path);
    try {
      const url = config.databaseUrl?.reveal() ?? ownUrl(layout);
      const rows = await dumpDatabase(url, version(), writer).catch((error: unknown) => {
        throw unreachable(error);
      });
      await writeFiles(layout, writer);
      const homes = await writeHomes(layout, writer);
      await writer.close();
      say(`${rows} rows, ${homes}`);
    } catch (error) {
      writer.abandon();
      throw error;
    }
  });
  return path;
}

function newFile(to: string | undefined): string {
  const time = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const path = resolve(to ?? join(checkout, 'backups', `gantry-${time}.backup`));
  if (existsSync(path)) throw new StepError(`${path} exists already.`, 'Name another file: make backup TO=<file>');
  mkdirSync(dirname(path), { recursive: true });
  return path;
}

const version = (): string =>
  (JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as { version: string }).version;

function ownUrl(layout: DataLayout): string {
  const port = new PortBook(layout.ports).remembered('postgres');
  const url = port === undefined ? undefined : ownPostgresUrl(layout, port);
  if (url === undefined) throw new StepError('There is no installation here.', 'Start one: make up');
  return url;
}

function unreachable(error: unknown): unknown {
  if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') return error;
  return new StepError('Postgres does not run.', 'Start it: make up', error);
}

/** Says what was written, or why nothing was. */
async function writeHomes(layout: DataLayout, writer: BackupWriter): Promise<string> {
  const note = instanceNote(layout);
  if (note === undefined) return 'no sandboxes';
  const docker = new DockerApi(note.engineSocket);
  if ((await docker.version()) === undefined)
    return 'without HOME of the sandboxes: their Docker engine does not answer';
  const { instanceId } = note;
  const [container] = await docker.containers({ label: instanceLabel(instanceId) });
  if (container === undefined) return 'no sandboxes';
  return `HOME of ${await dumpHomes(docker, { instanceId, image: container.Image }, writer)} sandboxes`;
}

async function writeFiles(layout: DataLayout, writer: BackupWriter): Promise<void> {
  for (const [path, file] of Object.entries(filesOf(layout))) {
    const text = readIfPresent(file);
    if (text === undefined) continue;
    await writer.note({ kind: 'file', path });
    await writer.data(Buffer.from(text));
    await writer.note({ kind: 'end' });
  }
}

/** Replaces the installation's data by the backup's. Gantry is stopped then; `make up` starts it. */
export async function restore(context: Context, from: string | undefined, question: Question): Promise<void> {
  const { steps, layout } = context;
  const path = await steps.run('File', () => {
    if (from === undefined) throw new StepError('Which backup?', 'make restore FROM=<file>');
    return resolve(from);
  });
  const header = await steps.run('Check', async () => {
    const found = await checkBackup(path);
    requireKnownSchema(found, migrationsDir);
    return found;
  });
  await steps.run('Consent', () => confirm(header, question));
  await prepareHost(context, { tests: false });
  await steps.run('Build', buildChanged);
  await stopServices(context);
  const { databaseUrl } = await prepareStorage(context, await prepareSupervisor(context), { durable: true });
  await steps.run('Restore', async (say) => {
    say(`reading ${path}`);
    const rows = await loadDatabase(path, header, { url: databaseUrl, migrationsDir, migrate: await builtMigrate() });
    await restoreFiles(path, layout);
    say(`${rows} rows of ${header.created_at}`);
  });
  const engine = await prepareEngine(context);
  const image = await prepareImage(context, engine);
  await steps.run('Sandboxes', async (say) => {
    const count = await loadHomes(path, engine.api, { instanceId: header.instance_id, image });
    say(`HOME of ${count} sandboxes; start it: make up`);
  });
}

async function confirm({ created_at: time, version: of }: BackupHeader, question: Question): Promise<void> {
  if (question.yes) return;
  if (!question.interactive) {
    throw new StepError(
      'restore replaces all data and asks first, and there is no terminal to ask on.',
      'To restore without being asked: make restore FROM=<file> YES=1',
    );
  }
  const answer = await question.ask(
    `This stops Gantry and replaces all of its data by that of ${time} (version ${of}).\nType "restore" to go on: `,
  );
  if (answer.trim() !== 'restore') throw new StepError('You did not agree; nothing was changed.', 'Nothing.');
}

async function builtMigrate(): Promise<(url: string, folder: string) => Promise<string[]>> {
  const built = pathToFileURL(join(checkout, 'dist', 'libs', 'persistence', 'src', 'migrate.js')).href;
  const { migrate } = (await import(built)) as { migrate: (url: string, folder: string) => Promise<string[]> };
  return migrate;
}

async function restoreFiles(path: string, layout: DataLayout): Promise<void> {
  const known = filesOf(layout);
  let target: string | undefined;
  let text = '';
  for await (const frame of readBackup(path)) {
    if ('note' in frame && frame.note.kind === 'file') [target, text] = [known[frame.note.path], ''];
    else if ('data' in frame && target !== undefined) text += frame.data.toString('utf8');
    else if ('note' in frame && target !== undefined) {
      writePrivate(target, text);
      target = undefined;
    }
  }
}
