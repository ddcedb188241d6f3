// What a stage of `make test` is, and what came out of one.

export interface Stage {
  name: string;
  /** Every command runs, also after one failed; the stage fails if any did. The program comes first, as for `spawn`. */
  commands: readonly (readonly string[])[];
  /** Longer than this is a failure; three times this, and the stage is killed. In seconds. */
  budgetS: number;
  /** Set if the command is Jest: the file to which it writes its results as JSON. Relative to the checkout. */
  jestResults?: string;
  /** Cheap stages run side by side, before all others. */
  cheap?: boolean;
  /** Stages without whose success this one can only repeat their failure. */
  needs?: readonly string[];
  /** Lines of output that say nothing new. */
  noise?: RegExp;
}

/** A test that failed, or a test file that did not load. */
export interface FailedTest {
  /** Relative to the checkout. */
  file: string;
  /** With the names of the groups around it. */
  title: string;
  /** The first line of what it failed with, without colours. */
  message: string;
}

export interface Outcome {
  name: string;
  seconds: number;
  /** Tests of a Jest stage; any other stage counts as one. */
  passed: number;
  failed: number;
  /** Why the stage failed, where its own output does not say so. */
  reasons: readonly string[];
  /** Of a Jest stage. */
  failedTests?: readonly FailedTest[];
}

export const hasFailed = ({ failed }: Outcome): boolean => failed > 0;
