// What Gantry wants to change on the machine itself: listed and asked once, before anything is done (OPS-3).
import { createInterface } from 'node:readline/promises';
import { StepError } from '../step.ts';

export interface HostChange {
  /** Package of the system to install, if that is what the change is. */
  package?: string;
  /** For people: what is done. */
  what: string;
  /** For people: what it is needed for. */
  why: string;
}

export function describeChanges(changes: readonly HostChange[]): string {
  return changes.map(({ what, why }) => `  - ${what} (${why})`).join('\n');
}

export interface Terminal {
  assumeYes: boolean;
  ask: (question: string) => Promise<string>;
}

const terminalQuestion = async (question: string): Promise<string> => {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await lines.question(question);
  } finally {
    lines.close();
  }
};

export const terminal = (assumeYes: boolean): Terminal => ({ assumeYes, ask: terminalQuestion });

/** Throws when the answer is not yes. Nothing to change asks nothing. */
export async function askOnce(changes: readonly HostChange[], { assumeYes, ask }: Terminal): Promise<void> {
  if (changes.length === 0 || assumeYes) return;
  const answer = await ask(`This changes the machine, as root:\n${describeChanges(changes)}\nGo on? [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) {
    throw new StepError('You did not agree to the changes of the machine.', 'Make them by hand, or run it with --yes.');
  }
}
