// The docker command line on the engine that the tests use, to look at containers from the side.
import { execFileSync } from 'node:child_process';
import { testEnv } from '#testing';

export const docker = (...args: string[]): string =>
  execFileSync('docker', ['-H', `unix://${testEnv().dockerSocket}`, ...args])
    .toString()
    .trim();

/** The running container of a project. */
export const containerOf = (projectId: string): string =>
  docker('ps', '-q', '--filter', `label=gantry.project=${projectId}`);
