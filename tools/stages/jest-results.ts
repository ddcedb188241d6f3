// Counts from the file that `jest --json --outputFile` writes.
import { readFileSync } from 'node:fs';

/** The fields used here, of Jest 30's AggregatedResult (https://jestjs.io/docs/configuration#testresultsprocessor-string). */
interface JestResults {
  numPassedTests: number;
  numFailedTests: number;
  /** Skipped with `.skip`, `x…`, or left out by `.only`. */
  numPendingTests: number;
  numTodoTests: number;
  /** Files that could not be loaded, so that their tests do not even count as failed. */
  numRuntimeErrorTestSuites: number;
}

export interface JestCounts {
  passed: number;
  failed: number;
  reasons: string[];
}

const isResults = (value: unknown): value is JestResults =>
  typeof value === 'object' &&
  value !== null &&
  ['numPassedTests', 'numFailedTests', 'numPendingTests', 'numTodoTests', 'numRuntimeErrorTestSuites'].every(
    (name) => typeof (value as Record<string, unknown>)[name] === 'number',
  );

/** A file that cannot be read, no test at all, and a test that was not run each count as a failure. */
export function readJestResults(file: string): JestCounts {
  let results: unknown;
  try {
    results = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    return { passed: 0, failed: 1, reasons: [`Jest left no readable results: ${String(error)}`] };
  }
  if (!isResults(results)) return { passed: 0, failed: 1, reasons: ["Jest's results have an unknown form."] };
  const reasons: string[] = [];
  const notRun = results.numPendingTests + results.numTodoTests;
  if (notRun > 0) reasons.push(`${notRun} tests are skipped or only planned.`);
  if (results.numRuntimeErrorTestSuites > 0)
    reasons.push(`${results.numRuntimeErrorTestSuites} test files did not load.`);
  const failed = results.numFailedTests + results.numRuntimeErrorTestSuites + notRun;
  if (results.numPassedTests + failed === 0) return { passed: 0, failed: 1, reasons: ['Not one test ran.'] };
  return { passed: results.numPassedTests, failed, reasons };
}
