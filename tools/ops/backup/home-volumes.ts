// HOME of the sandboxes, where agents keep their conversations: Docker volumes, read and written through a container that never runs.
import { Readable } from 'node:stream';
import type { DockerApi } from '../engine/docker-api.ts';
import { instanceLabel } from '../instance.ts';
import { type BackupWriter, readBackup } from './backup-file.ts';

/** Where a volume lies in the container; the first part of every path in its archive. */
const FOLDER = 'gantry-home';
const PROBE = { 'gantry.role': 'probe' };

/** Gives how many volumes were written. `image`: any that the engine has. */
export async function dumpHomes(
  docker: DockerApi,
  { instanceId, image }: { instanceId: string; image: string },
  writer: BackupWriter,
): Promise<number> {
  const volumes = await docker.labelledVolumes([instanceLabel(instanceId), 'gantry.volume=home']);
  for (const { Name: volume, Labels: labels } of volumes) {
    await withHolder(docker, { image, volume, instanceId }, async (id) => {
      await writer.note({ kind: 'home', volume, labels });
      for await (const chunk of await docker.readArchive(id, `/${FOLDER}`)) await writer.data(chunk as Buffer);
      await writer.note({ kind: 'end' });
    });
  }
  return volumes.length;
}

/** Replaces the volumes by the backup's; the instance's containers go, and are made again when they are needed. */
export async function loadHomes(
  path: string,
  docker: DockerApi,
  { instanceId, image }: { instanceId: string; image: string },
): Promise<number> {
  for (const { Id } of await docker.containers({ label: instanceLabel(instanceId) })) await docker.removeContainer(Id);
  const frames = readBackup(path)[Symbol.asyncIterator]();
  let count = 0;
  for (let next = await frames.next(); next.done !== true; next = await frames.next()) {
    const { value: frame } = next;
    if (!('note' in frame) || frame.note.kind !== 'home') continue;
    const { volume, labels } = frame.note;
    await docker.removeVolume(volume);
    await docker.createVolume(volume, labels);
    await withHolder(docker, { image, volume, instanceId }, (id) =>
      docker.writeArchive(id, '/', Readable.from(dataUntilEnd(frames))),
    );
    count += 1;
  }
  return count;
}

async function* dataUntilEnd(frames: ReturnType<typeof readBackup>): AsyncGenerator<Buffer> {
  for (let next = await frames.next(); next.done !== true; next = await frames.next()) {
    if (!('data' in next.value)) return;
    yield next.value.data;
  }
}

async function withHolder(
  docker: DockerApi,
  { image, volume, instanceId }: { image: string; volume: string; instanceId: string },
  work: (id: string) => Promise<void>,
): Promise<void> {
  const labels = { ...PROBE, 'gantry.instance': instanceId };
  const id = await docker.createHolder({ image, volume, target: `/${FOLDER}`, labels });
  try {
    await work(id);
  } finally {
    await docker.removeContainer(id);
  }
}
