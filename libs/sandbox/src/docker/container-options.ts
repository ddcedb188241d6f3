// What a sandbox's container is created from. Pure: hardening is decided here and nowhere else.
import type { ContainerCreateOptions, HostConfig, MountSettings } from 'dockerode';
import { createHash } from 'node:crypto';
import type { SandboxLimits, SandboxSpec } from '#domain';
import { AppError } from '#kernel';
import { LAYOUT, type ToolFiles } from './container-layout.js';
import { type Identity, LABEL } from './identity.js';

/** What root inside needs: to become the sandbox user, to signal its processes, to give it its home and pipes. */
export const CAPABILITIES = ['SETUID', 'SETGID', 'KILL', 'CHOWN'] as const;
const MAX_SHM_BYTES = 64 * 1024 * 1024;
const PRIVATE_FOLDER_BYTES = 1024 * 1024;
/** Of the memory: pages in a tmpfs cannot be reclaimed, and one as large as the limit would wedge the sandbox. */
const MAX_TMPFS_SHARE = 0.75;
/** sandboxd's own heap; its buffers come on top. */
const SUPERVISOR_HEAP_MB = 128;

export interface ContainerInputs {
  identity: Identity;
  spec: SandboxSpec;
  /** Id of the image, so that a newer image of the same name is another container. */
  imageId: string;
  userName: string;
  tools: ToolFiles;
  brokerSocketDir: string;
  /** Folders and files of this sandbox on the host. */
  socketFolder: string;
  passwdFile: string;
  groupFile: string;
}

export function containerOptions(inputs: ContainerInputs): ContainerCreateOptions & { name: string } {
  const { identity, spec } = inputs;
  const options: ContainerCreateOptions = {
    Image: inputs.imageId,
    User: '0:0',
    Hostname: 'sandbox',
    WorkingDir: '/',
    Entrypoint: [LAYOUT.node],
    Cmd: [`--max-old-space-size=${SUPERVISOR_HEAP_MB}`, LAYOUT.sandboxd],
    Env: environment(inputs),
    StopSignal: 'SIGTERM',
    StopTimeout: 5,
    Healthcheck: { Test: ['NONE'] },
    HostConfig: hostConfig(inputs),
  };
  const own = { [LABEL.project]: spec.projectId, [LABEL.sandbox]: spec.sandboxId, [LABEL.role]: 'sandbox' };
  const labels = identity.labels({ ...spec.labels, ...own, [LABEL.spec]: hashOf(options) });
  return { ...options, name: identity.containerName(spec.sandboxId), Labels: labels };
}

function hostConfig(inputs: ContainerInputs): HostConfig {
  const { limits } = inputs.spec;
  const shmBytes = checkedShmBytes(limits);
  return {
    NetworkMode: 'none',
    CapDrop: ['ALL'],
    CapAdd: [...CAPABILITIES],
    SecurityOpt: ['no-new-privileges'],
    Privileged: false,
    ReadonlyRootfs: true,
    Init: true,
    IpcMode: 'private',
    RestartPolicy: { Name: 'no' },
    PidsLimit: limits.pids,
    Memory: limits.memoryBytes,
    // Equal to the memory: no swap. Zero would mean twice the memory.
    MemorySwap: limits.memoryBytes,
    NanoCpus: Math.round(limits.cpus * 1e9),
    ShmSize: shmBytes,
    Tmpfs: {
      '/tmp': `rw,exec,nosuid,nodev,size=${limits.tmpBytes},mode=1777`,
      [LAYOUT.private]: `rw,noexec,nosuid,nodev,size=${PRIVATE_FOLDER_BYTES},mode=0700`,
    },
    Ulimits: [
      { Name: 'nofile', Soft: 4096, Hard: 8192 },
      { Name: 'core', Soft: 0, Hard: 0 },
      // Carries the mark of each job, so nothing may have lowered it before.
      { Name: 'rss', Soft: -1, Hard: -1 },
    ],
    LogConfig: { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '1' } },
    Mounts: mounts(inputs),
  };
}

function checkedShmBytes({ memoryBytes, tmpBytes }: SandboxLimits): number {
  const shmBytes = Math.min(MAX_SHM_BYTES, Math.floor(memoryBytes / 8));
  if (tmpBytes + shmBytes + PRIVATE_FOLDER_BYTES > memoryBytes * MAX_TMPFS_SHARE) {
    throw new AppError('sandbox.start_failed', 'The size of /tmp is too near to the memory limit of the sandbox.', {
      details: { memory_bytes: memoryBytes, tmp_bytes: tmpBytes },
    });
  }
  return shmBytes;
}

function mounts({ identity, spec, ...inputs }: ContainerInputs): MountSettings[] {
  const bind = (source: string, target: string, readOnly: boolean): MountSettings => ({
    Type: 'bind',
    Source: source,
    Target: target,
    ReadOnly: readOnly,
    BindOptions: { Propagation: 'rprivate' },
  });
  const volume = (name: string, kind: 'home' | 'spool', target: string): MountSettings => ({
    Type: 'volume',
    Source: name,
    Target: target,
    ReadOnly: false,
    VolumeOptions: {
      NoCopy: kind === 'spool',
      Labels: identity.labels({
        [LABEL.project]: spec.projectId,
        [LABEL.sandbox]: spec.sandboxId,
        [LABEL.volume]: kind,
      }),
      DriverConfig: { Name: 'local', Options: {} },
    },
  });
  return [
    bind(spec.workspacePath, LAYOUT.workspace, false),
    bind(inputs.socketFolder, LAYOUT.socketFolder, false),
    bind(inputs.brokerSocketDir, LAYOUT.broker, true),
    bind(inputs.tools.node, LAYOUT.node, true),
    bind(inputs.tools.claude, LAYOUT.claude, true),
    bind(inputs.tools.sandboxd, LAYOUT.sandboxd, true),
    bind(inputs.passwdFile, '/etc/passwd', true),
    bind(inputs.groupFile, '/etc/group', true),
    volume(identity.homeVolume(spec.projectId), 'home', LAYOUT.home),
    volume(identity.spoolVolume(spec.sandboxId), 'spool', LAYOUT.spool),
  ];
}

function environment({ spec, userName }: ContainerInputs): string[] {
  const variables = {
    SANDBOXD_UID: spec.uid,
    SANDBOXD_GID: spec.gid,
    SANDBOXD_USER: userName,
    SANDBOXD_HOME: LAYOUT.home,
    SANDBOXD_SOCKET: `${LAYOUT.socketFolder}/${LAYOUT.socketName}`,
    SANDBOXD_SPOOL_FOLDER: LAYOUT.spool,
    SANDBOXD_SPOOL_BYTES: spec.limits.spoolBytes,
    SANDBOXD_PIPE_FOLDER: LAYOUT.pipes,
    SANDBOXD_BROKER_SOCKET: `${LAYOUT.broker}/${LAYOUT.brokerSocketName}`,
    SANDBOXD_BROKER_PORT: LAYOUT.brokerPort,
    // An image's own values would reach the supervisor, which is root.
    NODE_OPTIONS: '',
    LD_PRELOAD: '',
    // The workspace's owner is the sandbox user, but what it holds may have been made by others (R21).
    GIT_CONFIG_COUNT: 1,
    GIT_CONFIG_KEY_0: 'safe.directory',
    GIT_CONFIG_VALUE_0: '*',
  };
  return Object.entries(variables).map(([name, value]) => `${name}=${value}`);
}

const hashOf = (options: ContainerCreateOptions): string =>
  createHash('sha256').update(JSON.stringify(options)).digest('hex').slice(0, 16);
