// Proves that the engine sees this process's files under the same paths (R20): a throw-away container reads a nonce from a
// mounted folder and says it to a socket in it. A worker in a container, or an engine on another machine, fails this.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type Server, createServer } from 'node:net';
import { join } from 'node:path';
import type { ContainerCreateOptions } from 'dockerode';
import { AppError } from '#kernel';
import { LAYOUT, type ToolFiles } from './container-layout.js';
import { type EngineClient, EngineRefusal, unlessMissing } from './engine-client.js';
import { type Identity, LABEL } from './identity.js';

const DEADLINE_MS = 20_000;
/** Begin of the names of the folders that are mounted into probes. */
export const PROOF_FOLDER = 'proof-';
const MOUNT = '/proof';
const SAY_NONCE = `require('net').connect('${MOUNT}/s').end(require('fs').readFileSync('${MOUNT}/nonce'))`;

export interface ProofInputs {
  engine: EngineClient;
  identity: Identity;
  /** Folder on the host in which sandboxes' run folders lie. */
  runRoot: string;
  tools: ToolFiles;
  imageId: string;
}

/** Throws `host.paths_not_shared`. */
export async function provePaths(inputs: ProofInputs): Promise<void> {
  const folder = await mkdtemp(join(inputs.runRoot, PROOF_FOLDER));
  const nonce = randomBytes(16).toString('hex');
  try {
    await writeFile(join(folder, 'nonce'), nonce);
    const heard = await listen(join(folder, 's'));
    try {
      const said = await runProbe(inputs, folder, heard.word);
      if (said !== nonce) throw notShared(new Error('The probe said something else.'));
    } finally {
      heard.server.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A server that hears one caller out. */
async function listen(path: string): Promise<{ server: Server; word: Promise<string> }> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  const word = new Promise<string>((resolve) => {
    server.once('connection', (socket) => {
      let text = '';
      socket.setEncoding('utf8');
      socket.on('data', (more) => (text = `${text}${String(more)}`.slice(0, 100)));
      socket.once('close', () => resolve(text));
      socket.on('error', () => socket.destroy());
    });
  });
  return { server, word };
}

async function runProbe(inputs: ProofInputs, folder: string, word: Promise<string>): Promise<string> {
  const { engine } = inputs;
  let containerId: string | undefined;
  try {
    const container = await engine.call((abortSignal) =>
      engine.docker.createContainer({ ...probeOptions(inputs, folder), abortSignal }),
    );
    containerId = container.id;
    await engine.call((abortSignal) => container.start({ abortSignal }));
    const ended = engine.call((abortSignal) => container.wait({ abortSignal }), DEADLINE_MS);
    const outcome = await Promise.race([word, ended.then(() => null)]);
    if (outcome === null) throw notShared(new Error('The probe ended without a word.'));
    // The wait goes on beside us; that it may fail when the container is removed says nothing.
    ended.catch(() => undefined);
    return outcome;
  } catch (error) {
    throw error instanceof EngineRefusal ? notShared(error) : error;
  } finally {
    if (containerId !== undefined) await removeProbe(engine, containerId);
  }
}

export async function removeProbe(engine: EngineClient, containerId: string): Promise<void> {
  const container = engine.docker.getContainer(containerId);
  await unlessMissing(engine.call((abortSignal) => container.remove({ abortSignal, force: true, v: true })));
}

function probeOptions({ identity, imageId, tools }: ProofInputs, folder: string): ContainerCreateOptions {
  const bind = (source: string, target: string) => ({
    Type: 'bind' as const,
    Source: source,
    Target: target,
    ReadOnly: true,
  });
  return {
    Image: imageId,
    User: '0:0',
    Entrypoint: [LAYOUT.node],
    Cmd: ['-e', SAY_NONCE],
    Env: ['NODE_OPTIONS=', 'LD_PRELOAD='],
    Labels: identity.labels({ [LABEL.role]: 'probe' }),
    HostConfig: {
      NetworkMode: 'none',
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      ReadonlyRootfs: true,
      Init: true,
      PidsLimit: 64,
      Mounts: [
        bind(folder, MOUNT),
        bind(tools.node, LAYOUT.node),
        bind(tools.claude, LAYOUT.claude),
        bind(tools.sandboxd, LAYOUT.sandboxd),
      ],
    },
  };
}

function notShared(cause: unknown): AppError {
  return new AppError('host.paths_not_shared', 'The Docker engine does not see the files of this worker.', {
    details: {
      remedy:
        'Run the worker on the machine of the engine; in a container, mount the data folder, the tools and the project roots into it at the same paths as on the host.',
    },
    cause,
  });
}
