// What the adapter must know of an image before a container can be made from it: its id, and its user files. Read once per
// image from a container that is created and removed, never started.
import { posix } from 'node:path';
import type { Container } from 'dockerode';
import { AppError } from '#kernel';
import { type EngineClient, isRefusal, startFailed, unlessMissing } from './engine-client.js';
import { type Identity, LABEL } from './identity.js';
import { firstTarFile } from './tar-file.js';

export interface ImageFacts {
  imageId: string;
  passwd: string;
  group: string;
}

/** A user file of an image is small; a larger answer is not one. */
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_LINKS = 4;
/** What an image without any users gets: root must have a name. */
const MINIMAL = { '/etc/passwd': 'root:x:0:0:root:/root:/bin/sh\n', '/etc/group': 'root:x:0:\n' } as const;

export class ImageCatalog {
  private readonly known = new Map<string, Promise<ImageFacts>>();

  constructor(
    private readonly engine: EngineClient,
    private readonly identity: Identity,
  ) {}

  /** Throws `sandbox.image_missing`. */
  async look(image: string): Promise<ImageFacts> {
    const imageId = await this.resolve(image);
    const facts = this.known.get(imageId) ?? this.read(imageId);
    this.known.set(imageId, facts);
    try {
      return await facts;
    } catch (error) {
      this.known.delete(imageId);
      throw error;
    }
  }

  private async resolve(image: string): Promise<string> {
    const found = await unlessMissing(this.engine.call(() => this.engine.docker.getImage(image).inspect()));
    if (found) return found.Id;
    throw new AppError('sandbox.image_missing', 'The sandbox image is not on this host.', { details: { image } });
  }

  private async read(imageId: string): Promise<ImageFacts> {
    const labels = this.identity.labels({ [LABEL.role]: 'probe' });
    const container = await this.create({ Image: imageId, Entrypoint: ['/nothing'], Labels: labels });
    try {
      const [passwd, group] = await Promise.all([
        this.readFile(container, '/etc/passwd'),
        this.readFile(container, '/etc/group'),
      ]);
      return { imageId, passwd: passwd ?? MINIMAL['/etc/passwd'], group: group ?? MINIMAL['/etc/group'] };
    } finally {
      await unlessMissing(this.engine.call((abortSignal) => container.remove({ abortSignal, force: true, v: true })));
    }
  }

  private async create(options: {
    Image: string;
    Entrypoint: string[];
    Labels: Record<string, string>;
  }): Promise<Container> {
    try {
      return await this.engine.call((abortSignal) =>
        this.engine.docker.createContainer({ ...options, NetworkDisabled: true, abortSignal }),
      );
    } catch (error) {
      throw startFailed(error, 'The sandbox image could not be read.');
    }
  }

  /** Null when there is no such file in the image. */
  private async readFile(container: Container, path: string, links = 0): Promise<string | null> {
    let archive: Buffer;
    try {
      archive = await this.engine.call(async (abortSignal) =>
        collect(await container.getArchive({ path, abortSignal }), MAX_FILE_BYTES),
      );
    } catch (error) {
      if (isRefusal(error, 404)) return null;
      throw error;
    }
    const file = firstTarFile(archive);
    if (file.kind === 'file') return file.content.toString('utf8');
    if (file.kind === 'other' || links >= MAX_LINKS) return null;
    return this.readFile(container, posix.resolve(posix.dirname(path), file.target), links + 1);
  }
}

async function collect(stream: NodeJS.ReadableStream, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > limit) break;
  }
  return Buffer.concat(chunks);
}
