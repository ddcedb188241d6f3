// Counts, and which tests failed, from the file that `jest --json --outputFile` writes.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { FailedTest } from './stage.ts';

/** The fields used here, of Jest 30's AggregatedResult (https://jestjs.io/docs/configuration#testresultsprocessor-string). */
interface JestResults {
  numPassedTests: number;
  numFailedTests: number;
  /** Skipped with `.skip`, `x…`, or left out by `.only`. */
  numPendingTests: number;
  numTodoTests: number;
  /** Files that could not be loaded, so that their tests do not even count as failed. */
  numRuntimeErrorTestSuites: number;
  testResults: {
    /** The file's absolute path. */
    name: string;
    status: string;
    /** Why the file did not load; else all failures of its tests in one text. */
    message: string;
    assertionResults: { fullName: string; status: string; failureMessages: string[] | null }[];
  }[];
}

export interface JestOutcome {
  passed: number;
  failed: number;
  reasons: string[];
  failedTests: FailedTest[];
}

const isResults = (value: unknown): value is JestResults =>
  typeof value === 'object' &&
  value !== null &&
  ['numPassedTests', 'numFailedTests', 'numPendingTests', 'numTodoTests', 'numRuntimeErrorTestSuites'].every(
    (name) => typeof (value as Record<string, unknown>)[name] === 'number',
  ) &&
  Array.isArray((value as Record<string, unknown>)['testResults']);

const LOAD_FAILURE_HEAD = /^\s*● Test suite failed to run\s*/;

/** The first line that is not empty; with the next one where it only announces that (`Configuration error:`). */
function firstLine(text: string): string {
  const [first = 'no message', second = ''] = stripVTControlCharacters(text)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return first.endsWith(':') ? `${first} ${second}`.trim() : first;
}

function failedTestsOf({ testResults }: JestResults, folder: string): FailedTest[] {
  return testResults.flatMap(({ name, status, message, assertionResults }): FailedTest[] => {
    const file = relative(folder, name);
    const failed = assertionResults.filter((test) => test.status === 'failed');
    if (status === 'failed' && failed.length === 0) {
      const reason = stripVTControlCharacters(message).replace(LOAD_FAILURE_HEAD, '');
      return [{ file, title: '(the file did not load)', message: firstLine(reason) }];
    }
    return failed.map(({ fullName, failureMessages }) => ({
      file,
      title: stripVTControlCharacters(fullName).replaceAll(/\s+/g, ' '),
      message: firstLine(failureMessages?.[0] ?? ''),
    }));
  });
}

const noResults = (reason: string): JestOutcome => ({ passed: 0, failed: 1, reasons: [reason], failedTests: [] });

/**
 * A file that cannot be read, no test at all, and a test that was not run each count as a failure.
 * `folder`: the checkout, to which the names of failed files are relative.
 */
export function readJestResults(file: string, folder: string): JestOutcome {
  let results: unknown;
  try {
    results = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    return noResults(`Jest left no readable results: ${String(error)}`);
  }
  if (!isResults(results)) return noResults("Jest's results have an unknown form.");
  const reasons: string[] = [];
  const notRun = results.numPendingTests + results.numTodoTests;
  if (notRun > 0) reasons.push(`${notRun} tests are skipped or only planned.`);
  if (results.numRuntimeErrorTestSuites > 0)
    reasons.push(`${results.numRuntimeErrorTestSuites} test files did not load.`);
  const failed = results.numFailedTests + results.numRuntimeErrorTestSuites + notRun;
  if (results.numPassedTests + failed === 0) return noResults('Not one test ran.');
  return { passed: results.numPassedTests, failed, reasons, failedTests: failedTestsOf(results, folder) };
}
