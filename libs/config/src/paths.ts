// Paths that follow from other options when they are not set themselves.
import { join } from 'node:path/posix';

export const DEFAULT_DATA_DIR = '/var/lib/gantry';
export const DEFAULT_DOCKER_SOCKET = '/var/run/docker.sock';

export const dataDirOf = (value: string | undefined): string => value ?? DEFAULT_DATA_DIR;

export const projectRootsOf = (value: string[] | undefined, dataDir: string): string[] =>
  value ?? [join(dataDir, 'projects')];

export const brokerSocketOf = (value: string | undefined, dataDir: string): string =>
  value ?? join(dataDir, 'broker', 'broker.sock');
