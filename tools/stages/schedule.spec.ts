// Order, parallel lanes and needs, with stages that end when the test says so; and the closing report.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { STAGES } from './catalog.ts';
import { stageLine, summary } from './report.ts';
import { runAll } from './schedule.ts';
import type { Outcome, Stage } from './stage.ts';

const stage = (name: string, more: Partial<Stage> = {}): Stage => ({ name, commands: [], budgetS: 10, ...more });
const good = (name: string): Outcome => ({ name, seconds: 1, passed: 1, failed: 0, reasons: [] });
const bad = (name: string): Outcome => ({ name, seconds: 1, passed: 0, failed: 1, reasons: ['because'] });

describe('runAll', () => {
  it('QA-6 goes on after a failure and gives outcomes in the order of the stages', async () => {
    const outcomes = await runAll([stage('slow'), stage('quick', { cheap: true }), stage('last')], async ({ name }) =>
      name === 'slow' ? bad(name) : good(name),
    );
    expect(outcomes.map(({ name, failed }) => [name, failed])).toEqual([
      ['slow', 1],
      ['quick', 0],
      ['last', 0],
    ]);
  });

  it('QA-6 runs cheap stages two at a time and others alone', async () => {
    let now = 0;
    let most = 0;
    const atOnce: Record<string, number> = {};
    const run = async ({ name }: Stage): Promise<Outcome> => {
      now += 1;
      most = Math.max(most, now);
      await new Promise(setImmediate);
      atOnce[name] = now;
      now -= 1;
      return good(name);
    };
    const cheap = ['a', 'b', 'c', 'd'].map((name) => stage(name, { cheap: true }));
    await runAll([...cheap, stage('e'), stage('f')], run);
    expect(most).toBe(2);
    expect([atOnce['e'], atOnce['f']]).toEqual([1, 1]);
  });

  it('QA-6 does not run a stage whose need failed, and counts it as failed', async () => {
    const ran: string[] = [];
    const outcomes = await runAll(
      [stage('build', { cheap: true }), stage('e2e', { needs: ['build'] })],
      async ({ name }) => {
        ran.push(name);
        return bad(name);
      },
    );
    expect(ran).toEqual(['build']);
    expect(outcomes[1]).toMatchObject({ failed: 1, reasons: ['Not run: it needs build.'] });
  });

  it('QA-6 runs a stage whose need was not asked for', async () => {
    const outcomes = await runAll([stage('e2e', { needs: ['build'] })], async ({ name }) => good(name));
    expect(outcomes).toEqual([good('e2e')]);
  });
});

describe('summary', () => {
  it('QA-7 ends with exactly one plain line of counts over all stages', () => {
    const text = summary([stage('a'), stage('b')], [{ ...good('a'), passed: 41 }, bad('b')], 12.34);
    expect(text.split('\n').at(-1)).toBe('41 passed, 1 failed');
    expect(text.match(/^\d+ passed, \d+ failed$/gm)).toHaveLength(1);
    expect(text).toContain('because');
    expect(`${stageLine('a', '3 passed, 0 failed')}\n`).not.toMatch(/^\d+ passed, \d+ failed$/m);
  });
});

describe('the summary of failures', () => {
  const failing = (name: string, count: number): Outcome => ({
    ...good(name),
    failed: count,
    failedTests: Array.from({ length: count }, (_, index) => ({
      file: `test/${index}.int-spec.ts`,
      title: `a group does ${index}`,
      message: '41 passed, 0 failed',
    })),
  });
  const text = (...outcomes: Outcome[]): string =>
    summary(
      outcomes.map(({ name }) => stage(name)),
      outcomes,
      1,
    );

  it('QA-16 names each failed test and stage after the table, before the last line', () => {
    const lines = text(good('types'), bad('lint'), failing('integration', 1)).split('\n');
    expect(lines.slice(lines.indexOf('failed:'))).toEqual([
      'failed:',
      '  lint: because',
      '  integration: test/0.int-spec.ts: a group does 0',
      '      41 passed, 0 failed',
      '2 passed, 2 failed',
    ]);
    expect(lines.filter((line) => /^\d+ passed, \d+ failed$/.test(line))).toHaveLength(1);
  });

  it('QA-16 names the first twenty and says how many more there are', () => {
    const lines = text(failing('unit', 15), failing('e2e', 8)).split('\n');
    expect(lines.filter((line) => line.includes('.int-spec.ts'))).toHaveLength(20);
    expect(lines.slice(-2)).toEqual(['  and 3 more', '2 passed, 23 failed']);
  });

  it('QA-16 says nothing when all is well', () => {
    expect(text(good('unit'))).not.toContain('failed:');
  });
});

describe('the command', () => {
  const main = join(import.meta.dirname, 'main.ts');
  const run = (...argv: string[]) => spawnSync(process.execPath, [main, ...argv], { encoding: 'utf8' });

  it('QA-7 explains itself and names every stage with its budget', () => {
    const { status, stdout } = run('--help');
    expect(status).toBe(0);
    for (const { name, budgetS } of STAGES) expect(stdout).toContain(`${name} (${budgetS})`);
  });

  it.each([[['--only', 'unit,nonsense']], [['--unknown']], [['unit']]])('QA-7 refuses %j with exit code 2', (argv) => {
    const { status, stderr } = run(...argv);
    expect(status).toBe(2);
    expect(stderr).not.toBe('');
  });

  it('QA-7 has every Jest project of the configuration as a stage', () => {
    const script =
      "import config from './jest.config.js'; console.log(config.projects.map((p) => p.displayName).join())";
    const projects = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: join(import.meta.dirname, '..', '..'),
      encoding: 'utf8',
    });
    const jestStages = STAGES.filter(({ jestResults }) => jestResults !== undefined).map(({ name }) => name);
    expect(projects.stdout.trim()).toBe(jestStages.join());
  });
});
