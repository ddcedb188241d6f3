// Images that lack something, made of a few files of the base image: what a sandbox needs and no more, less one thing.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Docker from 'dockerode';
import { newId } from '#kernel';
import { testEnv } from '#testing';

const run = promisify(execFile);
/** What an image needs besides the libraries of these and of node. */
const NEEDED = ['/bin/sh', '/usr/bin/mkfifo'];

export class SmallImages {
  private readonly docker = new Docker({ socketPath: testEnv().dockerSocket });
  private readonly made: string[] = [];
  private readonly folder = mkdtempSync(join(tmpdir(), 'gantry-images-'));

  /** An image with the needed files of this machine's own system, except those that match. */
  async without(...lacking: RegExp[]): Promise<string> {
    const name = `gantry-test-${newId()}`;
    const root = join(this.folder, name);
    mkdirSync(root);
    for (const file of await this.filesWithLibraries()) {
      if (!lacking.some((pattern) => pattern.test(file))) await copyInto(root, file);
    }
    const archive = `${root}.tar`;
    await run('tar', ['-C', root, '-cf', archive, '.']);
    const stream = await this.docker.importImage(archive, { repo: name });
    await new Promise<void>((resolve, reject) => {
      this.docker.modem.followProgress(stream, (error) => (error ? reject(error) : resolve()));
    });
    this.made.push(name);
    return name;
  }

  async remove(): Promise<void> {
    for (const name of this.made) await this.docker.getImage(name).remove({ force: true });
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async filesWithLibraries(): Promise<string[]> {
    const files = new Set(NEEDED);
    for (const file of [...NEEDED, testEnv().toolFiles.node]) {
      const { stdout } = await run('ldd', [file]);
      for (const [path] of stdout.matchAll(/\/\S+/g)) if (path !== `${file}:`) files.add(path);
    }
    return [...files];
  }
}

/** A link becomes a file. */
async function copyInto(root: string, file: string): Promise<void> {
  await run('install', ['-D', '-m', '755', file, join(root, file)]);
}
