// `reset`: down, then this instance's containers, volumes and data are deleted. Asks first, always.
import { existsSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { shortHash } from '../data-layout.ts';
import { DockerApi } from '../engine/docker-api.ts';
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
  await steps.run('Consent', () => confirm(context, folders, question));
  const recorded = livingProcesses(readRecords(layout.run));
  await stopServices(context);
  await steps.run('Services', () => requireDead([...recorded, ...livingProcesses(readRecords(layout.run))]));
  await steps.run('Sandboxes', (say) => removeFromEngine(context, say));
  await stopEngine(context);
  await steps.run('Data', (say) => {
    for (const folder of folders) {
      say(`deleting ${folder}`);
      rmSync(folder, { recursive: true, force: true });
    }
    if (existsSync(layout.root)) throw new StepError(`${layout.root} is still there.`, 'Delete it by hand.');
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

async function confirm({ config, layout }: Context, folders: string[], question: Question): Promise<void> {
  if (question.yes) return;
  if (!question.interactive) {
    throw new StepError('reset deletes data and asks first, and there is no terminal to ask on.', 'Give --yes.');
  }
  const untouched = [config.databaseUrl && 'DATABASE_URL', config.redisUrl && 'REDIS_URL'].filter(Boolean);
  const answer = await question.ask(
    [
      'This deletes for good:',
      ...folders.map((folder) => `  - ${folder}`),
      `  - the containers and volumes of the sandboxes of ${shortHash(layout.root)}`,
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
