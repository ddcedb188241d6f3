// The few calls of the Docker Engine API that installing needs, over its unix socket. Sandboxes themselves are the worker's business.
import { request, type IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { StepError } from '../step.ts';

export class DockerApiError extends Error {
  override readonly name = 'DockerApiError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface ContainerSummary {
  Id: string;
  Image: string;
  ImageID: string;
  Names: string[];
  State: string;
  Labels: Record<string, string>;
}

/** A line of the engine's answer to a long request. */
interface ProgressLine {
  stream?: string;
  status?: string;
  error?: string;
}

export class DockerApi {
  readonly socketPath: string;

  constructor(socketPath: string) {
    this.socketPath = socketPath;
  }

  /** The engine's version, or undefined when nothing answers there. */
  async version(timeoutMs = 3_000): Promise<string | undefined> {
    try {
      const answer = await this.#json<{ Version: string }>('GET', '/version', { timeoutMs });
      return answer.Version;
    } catch (error) {
      if (error instanceof DockerApiError) throw error;
      if ((error as NodeJS.ErrnoException).code === 'EACCES') throw notAllowed(this.socketPath, error);
      return undefined; // no socket, no listener, or no answer in time: no engine there
    }
  }

  /** Stable id of the engine. */
  async engineId(): Promise<string> {
    return (await this.#json<{ ID: string }>('GET', '/info')).ID;
  }

  async hasImage(name: string): Promise<boolean> {
    try {
      await this.#json('GET', `/images/${encodeURIComponent(name)}/json`);
      return true;
    } catch (error) {
      if (error instanceof DockerApiError && error.status === 404) return false;
      throw error;
    }
  }

  /** The value of an image's label; undefined without the image or the label. */
  async imageLabel(name: string, label: string): Promise<string | undefined> {
    try {
      const path = `/images/${encodeURIComponent(name)}/json`;
      const { Config } = await this.#json<{ Config: { Labels: Record<string, string> | null } }>('GET', path);
      return Config.Labels?.[label];
    } catch (error) {
      if (error instanceof DockerApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Ids of the images without a name that carry `label` (`name=value`) and that no other image is made from. */
  async danglingImages(label: string): Promise<string[]> {
    const filters = JSON.stringify({ dangling: ['true'], label: [label] });
    const query = new URLSearchParams({ filters });
    return (await this.#json<{ Id: string }[]>('GET', `/images/json?${query.toString()}`)).map((image) => image.Id);
  }

  /** Removes those, and what only they were made from. */
  async pruneImages(label: string): Promise<void> {
    const filters = JSON.stringify({ dangling: ['true'], label: [label] });
    await this.#json('POST', `/images/prune?${new URLSearchParams({ filters })}`);
  }

  /** Pulls from a registry. Fails when it takes longer than `timeoutMs`. */
  async pullImage(name: string, tag: string, timeoutMs: number): Promise<void> {
    const query = new URLSearchParams({ fromImage: name, tag });
    await this.#progress('POST', `/images/create?${query.toString()}`, { timeoutMs });
  }

  /** Makes an image of a tar archive of a root file system. */
  async importImage(name: string, tag: string, archive: Readable): Promise<void> {
    const query = new URLSearchParams({ fromSrc: '-', repo: name, tag });
    await this.#progress('POST', `/images/create?${query.toString()}`, { body: archive });
  }

  async loadImage(archive: Readable): Promise<void> {
    await this.#progress('POST', '/images/load?quiet=1', { body: archive });
  }

  /** The archive that `loadImage` reads. */
  async saveImage(name: string): Promise<Readable> {
    return this.#open('GET', `/images/${encodeURIComponent(name)}/get`);
  }

  /** Classic builder: the context is a tar archive; `onLine` gets the build's output. */
  async buildImage(
    tag: string,
    context: Readable,
    options: {
      buildArgs: Record<string, string>;
      dockerfile?: string;
      labels?: Record<string, string>;
      /** The stage to end with; the last one if absent. */
      target?: string;
      onLine?: (line: string) => void;
    },
  ): Promise<void> {
    const query = new URLSearchParams({
      t: tag,
      rm: '1',
      forcerm: '1',
      networkmode: 'host',
      buildargs: JSON.stringify(options.buildArgs),
      labels: JSON.stringify(options.labels ?? {}),
      ...(options.target ? { target: options.target } : {}),
      ...(options.dockerfile ? { dockerfile: options.dockerfile } : {}),
    });
    await this.#progress('POST', `/build?${query.toString()}`, { body: context, onLine: options.onLine });
  }

  /** Containers, stopped ones too unless `running`; only those with `label` if given. */
  async containers(filter: { label?: string; running?: boolean } = {}): Promise<ContainerSummary[]> {
    const filters = JSON.stringify(filter.label ? { label: [filter.label] } : {});
    const query = new URLSearchParams({ all: filter.running ? '0' : '1', filters });
    return this.#json('GET', `/containers/json?${query.toString()}`);
  }

  /** SIGTERM, and SIGKILL after 10 s. */
  async stopContainer(id: string): Promise<void> {
    await this.#ignoreMissing(this.#json('POST', `/containers/${id}/stop?t=10`));
  }

  async removeContainer(id: string): Promise<void> {
    await this.#ignoreMissing(this.#json('DELETE', `/containers/${id}?force=1&v=1`));
  }

  async volumes(label: string): Promise<string[]> {
    const query = new URLSearchParams({ filters: JSON.stringify({ label: [label] }) });
    const answer = await this.#json<{ Volumes: { Name: string }[] | null }>('GET', `/volumes?${query.toString()}`);
    return (answer.Volumes ?? []).map((volume) => volume.Name);
  }

  async removeVolume(name: string): Promise<void> {
    await this.#ignoreMissing(this.#json('DELETE', `/volumes/${encodeURIComponent(name)}?force=1`));
  }

  /** Volumes that carry all of the labels, with their labels. */
  async labelledVolumes(labels: readonly string[]): Promise<{ Name: string; Labels: Record<string, string> }[]> {
    const query = new URLSearchParams({ filters: JSON.stringify({ label: labels }) });
    const answer = await this.#json<{ Volumes: { Name: string; Labels: Record<string, string> }[] | null }>(
      'GET',
      `/volumes?${query.toString()}`,
    );
    return answer.Volumes ?? [];
  }

  async createVolume(name: string, labels: Record<string, string>): Promise<void> {
    await this.#json('POST', '/volumes/create', { json: { Name: name, Labels: labels, Driver: 'local' } });
  }

  /** A container that is never started, with a volume at `target`: through it the volume's files are read and written. Gives its id. */
  async createHolder(holder: {
    image: string;
    volume: string;
    target: string;
    labels: Record<string, string>;
  }): Promise<string> {
    const Mounts = [{ Type: 'volume', Source: holder.volume, Target: holder.target, VolumeOptions: { NoCopy: true } }];
    const json = {
      Image: holder.image,
      Cmd: ['true'],
      Labels: holder.labels,
      HostConfig: { NetworkMode: 'none', Mounts },
    };
    return (await this.#json<{ Id: string }>('POST', '/containers/create', { json })).Id;
  }

  /** A tar archive of a folder in a container, which need not run. */
  async readArchive(id: string, path: string): Promise<Readable> {
    return this.#open('GET', `/containers/${id}/archive?${new URLSearchParams({ path }).toString()}`);
  }

  /** Unpacks a tar archive below a folder of a container. */
  async writeArchive(id: string, path: string, archive: Readable): Promise<void> {
    const query = new URLSearchParams({ path }).toString();
    await readText(await this.#open('PUT', `/containers/${id}/archive?${query}`, { body: archive }));
  }

  async networks(label: string): Promise<string[]> {
    const query = new URLSearchParams({ filters: JSON.stringify({ label: [label] }) });
    return (await this.#json<{ Id: string }[]>('GET', `/networks?${query.toString()}`)).map((network) => network.Id);
  }

  async removeNetwork(id: string): Promise<void> {
    await this.#ignoreMissing(this.#json('DELETE', `/networks/${id}`));
  }

  async #ignoreMissing(call: Promise<unknown>): Promise<void> {
    await call.catch((error: unknown) => {
      if (!(error instanceof DockerApiError && error.status === 404)) throw error;
    });
  }

  async #json<T>(method: string, path: string, options: { timeoutMs?: number; json?: object } = {}): Promise<T> {
    const text = await readText(await this.#open(method, path, options));
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  /** Reads a stream of JSON lines to its end; a line with `error` is the request's failure. */
  async #progress(
    method: string,
    path: string,
    options: { timeoutMs?: number; body?: Readable; onLine?: ((line: string) => void) | undefined },
  ): Promise<void> {
    const text = await readText(await this.#open(method, path, options), (line) => {
      const said = (JSON.parse(line) as ProgressLine).stream?.trim();
      if (said) options.onLine?.(said);
    });
    const failed = text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line) as ProgressLine)
      .find((line) => line.error !== undefined);
    if (failed) throw new DockerApiError(500, failed.error ?? '');
  }

  #open(
    method: string,
    path: string,
    options: { timeoutMs?: number; body?: Readable; json?: object } = {},
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const signal = options.timeoutMs === undefined ? undefined : AbortSignal.timeout(options.timeoutMs);
      const json = options.json === undefined ? undefined : JSON.stringify(options.json);
      const headers = headersOf(options.body, json);
      const outgoing = request(
        { socketPath: this.socketPath, method, path, headers, agent: false, ...(signal ? { signal } : {}) },
        (response) => {
          const status = response.statusCode ?? 0;
          if (status < 400) return resolve(response);
          readText(response).then((text) => reject(new DockerApiError(status, messageOf(text))), reject);
        },
      );
      outgoing.once('error', reject);
      if (!options.body) return outgoing.end(json);
      options.body.once('error', (error) => outgoing.destroy(error)).pipe(outgoing);
    });
  }
}

function headersOf(body: Readable | undefined, json: string | undefined): Record<string, string> {
  if (body !== undefined) return { 'content-type': 'application/x-tar' };
  return json === undefined
    ? {}
    : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(json)) };
}

function notAllowed(socketPath: string, cause: unknown): StepError {
  return new StepError(
    `You may not use the Docker engine on ${socketPath}.`,
    'As root: usermod -aG docker <your name>; then sign in again.',
    cause,
  );
}

function messageOf(text: string): string {
  try {
    return (JSON.parse(text) as { message: string }).message;
  } catch {
    return text; // a proxy in between answers in its own words
  }
}

async function readText(stream: IncomingMessage, onLine?: (line: string) => void): Promise<string> {
  let text = '';
  let handled = 0;
  for await (const chunk of stream.setEncoding('utf8')) {
    text += String(chunk);
    for (let end = text.indexOf('\n', handled); onLine && end !== -1; end = text.indexOf('\n', handled)) {
      const line = text.slice(handled, end).trim();
      handled = end + 1;
      if (line !== '') onLine(line);
    }
  }
  return text;
}
