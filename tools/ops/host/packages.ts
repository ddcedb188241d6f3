// Packages of the host's system, where apt is at hand and we are root.
import { existsSync } from 'node:fs';
import { StepError, type Say } from '../step.ts';
import { findProgram } from './find-program.ts';
import { runCommand } from './run-command.ts';

/** Services that a package starts by itself under systemd. We run our own, with our own settings, so these are not needed. */
const STARTED_BY_SYSTEMD: Record<string, readonly string[]> = {
  'redis-server': ['redis-server.service'],
  'docker.io': ['docker.socket', 'docker.service', 'containerd.service'],
};

const systemdRuns = (): boolean => existsSync('/run/systemd/system');

/** How a person installs packages by hand on this machine. */
export const installByHand = (names: readonly string[]): string =>
  findProgram('apt-get')
    ? `As root: apt-get install ${names.join(' ')}`
    : `Install them with your system's package manager (${names.join(', ')} are Debian's names).`;

/** Installs packages with apt as root, without asking anything, and stops what they start by themselves. */
export async function installPackages(names: readonly string[], say: Say): Promise<void> {
  if (!findProgram('apt-get')) throw new StepError(`${names.join(', ')} must be installed.`, installByHand(names));
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  say(`apt-get install ${names.join(' ')}`);
  try {
    await runCommand('apt-get', ['update', '-q'], { env });
    await runCommand('apt-get', ['install', '-q', '-y', '--no-install-recommends', ...names], { env });
    const units = systemdRuns() ? names.flatMap((name) => STARTED_BY_SYSTEMD[name] ?? []) : [];
    if (units.length > 0) await runCommand('systemctl', ['disable', '--now', ...units]);
  } catch (error) {
    throw new StepError(
      `apt-get could not install ${names.join(', ')}: ${error instanceof Error ? error.message : String(error)}`,
      'Install them by hand, then run it again.',
      error,
    );
  }
}
