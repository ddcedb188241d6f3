// Stages as real child processes in a folder of their own.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processTree } from './process-tree.ts';
import { judge, runStage } from './run-stage.ts';
import type { Stage } from './stage.ts';

let folder: string;
const lines: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gantry-stages-'));
  lines.length = 0;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const surroundings = () => ({
  folder,
  running: new Set<number>(),
  print: (_stage: string, line: string) => void lines.push(line),
});

const stage = (script: string, more: Partial<Stage> = {}): Stage => ({
  name: 'sample',
  commands: [['node', '-e', script]],
  budgetS: 30,
  ...more,
});

const jestResults = (counts: Record<string, unknown>): string => {
  const results = {
    numPassedTests: 0,
    numFailedTests: 0,
    numPendingTests: 0,
    numTodoTests: 0,
    numRuntimeErrorTestSuites: 0,
    testResults: [],
    ...counts,
  };
  return `require('node:fs').writeFileSync('results.json', ${JSON.stringify(JSON.stringify(results))});`;
};
const jestStage = (script: string): Stage => stage(script, { jestResults: 'results.json' });

describe('runStage', () => {
  it('QA-3 counts a stage as one check, passes its lines on and keeps the whole output', async () => {
    const outcome = await runStage(
      stage('console.log("one"); console.error("noise two")', { noise: /^noise/ }),
      surroundings(),
    );
    expect(outcome).toMatchObject({ name: 'sample', passed: 1, failed: 0, reasons: [] });
    expect(lines).toEqual(['one']);
    expect(readFileSync(join(folder, 'test-results', 'sample.log'), 'utf8')).toContain('noise two');
  });

  it('QA-3 runs every command and fails if any of them did', async () => {
    const commands = [
      ['node', '-e', 'process.exit(3)'],
      ['node', '-e', 'console.log("second")'],
    ];
    const outcome = await runStage(stage('', { commands }), surroundings());
    expect(outcome).toMatchObject({ passed: 0, failed: 1 });
    expect(outcome.reasons.join()).toContain('exit code 3');
    expect(lines).toEqual(['second']);
  });

  it('QA-3 fails a stage whose program is not there', async () => {
    const outcome = await runStage(stage('', { commands: [['./not-there']] }), surroundings());
    expect(outcome.failed).toBe(1);
    expect(outcome.reasons.join()).toContain('could not be started');
  });

  it('QA-4 fails a stage over its budget though everything in it passed', () => {
    expect(judge(stage('', { budgetS: 30 }), 30, [], folder)).toMatchObject({ passed: 1, failed: 0 });
    expect(judge(stage('', { budgetS: 30 }), 30.1, [], folder)).toMatchObject({
      passed: 0,
      failed: 1,
      reasons: ['Over budget: 30.1 s of 30 s.'],
    });
  });

  it('QA-4 kills a stage that hangs, with what it started in sessions of their own', async () => {
    const script = `
      const { spawn } = require('node:child_process');
      const child = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
      require('node:fs').writeFileSync('pid', String(child.pid));
      console.log('started');
      setInterval(() => {}, 1000);`;
    const outcome = await runStage(stage(script, { budgetS: 0.3 }), surroundings());
    expect(outcome.failed).toBe(1);
    expect(outcome.reasons.join()).toContain('Killed: it ran 3 times the budget.');
    const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
    // A killed process is gone a moment after the signal; one that was missed stays, and the test's limit ends this.
    while (isRunning(pid)) await new Promise(setImmediate);
  });

  it('QA-5 counts the tests of a Jest stage', async () => {
    const outcome = await runStage(jestStage(jestResults({ numPassedTests: 7 })), surroundings());
    expect(outcome).toMatchObject({ passed: 7, failed: 0, reasons: [] });
  });

  it.each([
    ['failed tests', { numPassedTests: 5, numFailedTests: 2 }, 2],
    ['skipped tests', { numPassedTests: 5, numPendingTests: 1 }, 1],
    ['planned tests', { numPassedTests: 5, numTodoTests: 3 }, 3],
    ['files that do not load', { numPassedTests: 5, numRuntimeErrorTestSuites: 1 }, 1],
    ['no test at all', {}, 1],
  ])('QA-5 fails a Jest stage with %s', async (_name, counts, failed) => {
    const outcome = await runStage(jestStage(jestResults(counts)), surroundings());
    expect(outcome.failed).toBe(failed);
  });

  it('QA-16 names each failed test and each file that did not load, as Jest itself reports them', async () => {
    const at = (name: string): string => join(folder, name);
    writeFileSync(at('bad.spec.cjs'), "describe('a group', () => test('adds', () => expect(2).toBe(3)));");
    writeFileSync(at('broken.spec.cjs'), "require('./not-there.cjs'); test('x', () => {});");
    writeFileSync(
      at('titled.spec.cjs'),
      "test('loads', () => { throw new Error('Configuration error:\\n\\nno module'); });",
    );
    writeFileSync(at('good.spec.cjs'), "test('fine', () => {});");
    const flags = ['--rootDir', folder, '--testRegex', 'spec[.]cjs$', '--json', '--outputFile', at('results.json')];
    const jest = join(import.meta.dirname, '..', '..', 'node_modules', 'jest', 'bin', 'jest.js');
    const config = JSON.stringify({ transform: {}, testEnvironment: 'node' });
    const commands = [['node', jest, '--config', config, ...flags]];
    const outcome = await runStage(stage('', { commands, jestResults: 'results.json' }), surroundings());
    const failed = [...(outcome.failedTests ?? [])].sort((one, other) => one.file.localeCompare(other.file));
    expect(failed).toEqual([
      {
        file: 'bad.spec.cjs',
        title: 'a group adds',
        message: 'Error: expect(received).toBe(expected) // Object.is equality',
      },
      {
        file: 'broken.spec.cjs',
        title: '(the file did not load)',
        message: expect.stringMatching(/^Cannot find module '\.\/not-there\.cjs'/) as string,
      },
      { file: 'titled.spec.cjs', title: 'loads', message: 'Error: Configuration error: no module' },
    ]);
    expect(outcome).toMatchObject({ passed: 1, failed: 3 });
  });

  it('QA-5 fails a Jest stage that leaves no results, or passes and then ends badly', async () => {
    writeFileSync(join(folder, 'results.json'), '{"stale": true}');
    expect(await runStage(jestStage(''), surroundings())).toMatchObject({ passed: 0, failed: 1 });
    const crashed = await runStage(jestStage(`${jestResults({ numPassedTests: 2 })} process.exit(1)`), surroundings());
    expect(crashed).toMatchObject({ passed: 2, failed: 1 });
  });
});

/** Also false for a zombie: the state follows the name in /proc/<pid>/stat. */
function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch (error) {
    expect(String(error)).toContain('ENOENT');
    return false;
  }
}

describe('processTree', () => {
  it('QA-4 lists a process before its descendants', () => {
    const tree = processTree(process.ppid);
    expect(tree[0]).toBe(process.ppid);
    expect(tree).toContain(process.pid);
  });
});
