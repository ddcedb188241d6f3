// Packages of the host's system, where apt is at hand and we are root.
import { findProgram } from './find-program.ts';
import { runCommand } from './run-command.ts';
import { StepError, type Say } from '../step.ts';

/** Whether we could install packages: apt, as root. */
export const canInstallPackages = (): boolean => process.getuid?.() === 0 && findProgram('apt-get') !== undefined;

/** Installs packages without asking anything and without starting their services. */
export async function installPackages(names: readonly string[], say: Say): Promise<void> {
  if (!canInstallPackages()) {
    throw new StepError(`${names.join(', ')} must be installed.`, `As root: apt-get install ${names.join(' ')}`);
  }
  const env = { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  say(`apt-get install ${names.join(' ')}`);
  try {
    await runCommand('apt-get', ['update', '-q'], { env });
    await runCommand('apt-get', ['install', '-q', '-y', '--no-install-recommends', ...names], { env });
  } catch (error) {
    throw new StepError(
      `apt-get could not install ${names.join(', ')}: ${error instanceof Error ? error.message : String(error)}`,
      'Install them by hand, then run it again.',
      error,
    );
  }
}
