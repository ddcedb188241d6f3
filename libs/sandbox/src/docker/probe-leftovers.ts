// What a worker that was killed in the middle of a proof, or while it looked at an image, left behind: throw-away containers and
// folders. Only what is too old to be in use by another worker of this instance is removed (R19).
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type EngineClient } from './engine-client.js';
import type { Identity } from './identity.js';
import { PROOF_FOLDER, removeProbe } from './paths-proof.js';

export interface LeftoverInputs {
  engine: EngineClient;
  identity: Identity;
  runRoot: string;
  olderThanMs: number;
}

export async function removeLeftovers(inputs: LeftoverInputs): Promise<void> {
  const before = Date.now() - inputs.olderThanMs;
  await removeContainers(inputs, before);
  await removeFolders(inputs, before);
}

async function removeContainers({ engine, identity }: LeftoverInputs, before: number): Promise<void> {
  const filters = identity.filter('probe');
  const found = await engine.call((abortSignal) => engine.docker.listContainers({ all: true, filters, abortSignal }));
  // `Created` is in whole seconds of Unix time (Docker Engine API, ContainerSummary).
  const left = found.filter(({ Created }) => (Created + 1) * 1_000 <= before);
  for (const { Id } of left) await removeProbe(engine, Id);
}

async function removeFolders({ runRoot }: LeftoverInputs, before: number): Promise<void> {
  for (const name of await namesIn(runRoot)) {
    if (!name.startsWith(PROOF_FOLDER)) continue;
    const folder = join(runRoot, name);
    const madeAt = await changedAt(folder);
    if (madeAt !== undefined && madeAt <= before) await rm(folder, { recursive: true, force: true });
  }
}

const namesIn = (folder: string): Promise<string[]> => unlessGone(readdir(folder), []);

const changedAt = (path: string): Promise<number | undefined> =>
  unlessGone(
    stat(path).then(({ mtimeMs }) => mtimeMs),
    undefined,
  );

async function unlessGone<T>(work: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return otherwise;
    throw error;
  }
}
