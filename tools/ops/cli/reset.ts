// `reset`: down, then this instance's containers, volumes and data are deleted. Asks first, always.
import { existsSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { shortHash } from '../data-layout.ts';
import { DockerApi } from '../engine/docker-api.ts';
import { deleteExcept, foldersWithWork } from '../host/kept-folders.ts';
import { isAlive } from '../host/process-identity.ts';
import { instanceLabel, instanceNote } from '../instance.ts';
import { dataFolderElsewhere } from '../services/postgres-files.ts';
import { StepError, type Say } from '../step.ts';
import { livingProcesses, readRecords, type LivingProcess } from '../supervisor/service-records.ts';
import type { Context } from './context.ts';
import { stopEngine, stopServices } from './down.ts';

export interface Question {
  /** `--yes` was given: unlike elsewhere, CI or a missing terminal is no consent to delete. */
  yes: boolean;
  interactive: boolean;
  ask: (question: string) => Promise<string>;
}

export async function reset(context: Context, question: Question): Promise<void> {
  const { steps, layout } = context;
  const folders = foldersOf(context);
  const kept = await steps.run('Consent', async () => {
    const kept = keptFolders(context, folders);
    await confirm(context, { folders, kept }, question);
    return kept;
  });
  const recorded = livingProcesses(readRecords(layout.run));
  await stopServices(context);
  await steps.run('Services', () => requireDead([...recorded, ...livingProcesses(readRecords(layout.run))]));
  await steps.run('Sandboxes', (say) => removeFromEngine(context, say));
  await stopEngine(context);
  await steps.run('Data', (say) => {
    for (const folder of folders) {
      say(`deleting ${folder}`);
      deleteExcept(folder, kept);
    }
    for (const folder of kept) {
      say(`kept ${folder}: your project folders; delete them by hand if you do not need them`);
    }
    if (kept.length === 0 && existsSync(layout.root))
      throw new StepError(`${layout.root} is still there.`, 'Delete it by hand.');
  });
}

/** Data is not deleted under a process that was started on it, and no record of it is lost (OPS-19). */
function requireDead(processes: readonly LivingProcess[]): void {
  const left = new Map(
    processes.filter(({ identity }) => isAlive(identity)).map(({ name, identity }) => [identity.pid, name]),
  );
  if (left.size === 0) return;
  throw new StepError(
    `These still run, so nothing was deleted: ${[...left].map(([pid, name]) => `${name} (pid ${pid})`).join(', ')}.`,
    `End them (kill ${[...left.keys()].join(' ')}), then run it again.`,
  );
}

/** All folders that hold this instance's data. */
function foldersOf({ layout, config }: Context): string[] {
  const postgres = config.postgresDir ?? layout.postgres;
  const sockets = dirname(dirname(layout.supervisorSocket));
  return [postgres, dataFolderElsewhere(postgres), sockets, layout.root].filter(
    (folder, index, all) => existsSync(folder) && all.indexOf(folder) === index,
  );
}

/** Users' work in what would be deleted: the folders for projects of this and of earlier starts. */
function keptFolders({ layout, config }: Context, folders: readonly string[]): string[] {
  const roots = [...config.projectRoots, ...(instanceNote(layout)?.projectRoots ?? []), layout.projects];
  const kept = foldersWithWork(roots, folders);
  const mixed = folders.find((folder) => kept.includes(realpathSync(folder)));
  if (mixed === undefined) return kept;
  throw new StepError(
    `${mixed} is both a data folder and a folder for projects (GANTRY_PROJECT_ROOTS): what is yours in it cannot be told.`,
    `Nothing was changed. Stop it with make down, save your projects, and delete ${mixed} by hand.`,
  );
}

interface Affected {
  folders: readonly string[];
  kept: readonly string[];
}

async function confirm({ config, layout }: Context, { folders, kept }: Affected, question: Question): Promise<void> {
  if (question.yes) return;
  if (!question.interactive) {
    throw new StepError(
      'reset deletes data and asks first, and there is no terminal to ask on.',
      'To delete without being asked: make reset YES=1 (or --yes on the command line).',
    );
  }
  const untouched = [config.databaseUrl && 'DATABASE_URL', config.redisUrl && 'REDIS_URL'].filter(Boolean);
  const answer = await question.ask(
    [
      'This deletes for good:',
      ...folders.map((folder) => `  - ${folder}`),
      `  - the containers and volumes of the sandboxes of ${shortHash(layout.root)}`,
      ...kept.map((folder) => `Your project folders in ${folder} stay.`),
      ...(untouched.length > 0 ? [`What ${untouched.join(' and ')} point to is yours and stays.`] : []),
      'Type "delete" to go on: ',
    ].join('\n'),
  );
  if (answer.trim() !== 'delete') throw new StepError('You did not agree; nothing was changed.', 'Nothing.');
}

async function removeFromEngine({ layout }: Context, say: Say): Promise<void> {
  const note = instanceNote(layout);
  if (!note) return;
  const docker = new DockerApi(note.engineSocket);
  const label = instanceLabel(note.instanceId);
  if (!(await docker.version())) {
    say(`no engine answers on ${note.engineSocket}: containers and volumes labelled ${label} stay there`);
    return;
  }
  const containers = await docker.containers({ label });
  for (const { Id } of containers) await docker.removeContainer(Id);
  const volumes = await docker.volumes(label);
  for (const name of volumes) await docker.removeVolume(name);
  const networks = await docker.networks(label);
  for (const id of networks) await docker.removeNetwork(id);
  const count = containers.length + volumes.length + networks.length;
  if (count > 0) say(`removed ${containers.length} containers, ${volumes.length} volumes, ${networks.length} networks`);
}
