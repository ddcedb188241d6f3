// Checks that need a folder or another program: git's list of files, generators of pages, and the linter.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkGeneratedPages } from './generated-pages.ts';
import { projectFiles } from './project-files.ts';

const checkout = join(import.meta.dirname, '..', '..');
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gantry-checks-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('projectFiles', () => {
  it('QA-11 reads tracked and new text files, not ignored, deleted or binary ones', () => {
    const git = (...argv: string[]) => spawnSync('git', argv, { cwd: folder });
    git('init', '-q');
    for (const name of ['tracked.md', 'deleted.md', 'ignored.log', 'new file.ts'])
      writeFileSync(join(folder, name), name);
    writeFileSync(join(folder, '.gitignore'), '*.log\n');
    writeFileSync(join(folder, 'binary.bin'), Buffer.from([1, 0, 2]));
    git('add', 'tracked.md', 'deleted.md');
    rmSync(join(folder, 'deleted.md'));
    expect(
      projectFiles(folder)
        .map(({ path }) => path)
        .sort(),
    ).toEqual(['.gitignore', 'new file.ts', 'tracked.md']);
  });
});

describe('checkGeneratedPages', () => {
  it('QA-14 runs each generator with --check and passes on why it refuses', () => {
    mkdirSync(join(folder, 'tools'));
    writeFileSync(join(folder, 'tools', 'good.ts'), "if (!process.argv.includes('--check')) process.exit(1);");
    writeFileSync(join(folder, 'tools', 'stale.ts'), "console.error('differs'); process.exit(1);");
    const problems = checkGeneratedPages(folder, [
      { tool: 'tools/good.ts', page: 'good.md' },
      { tool: 'tools/stale.ts', page: 'stale.md' },
      { tool: 'tools/absent.ts', page: 'absent.md' },
    ]);
    expect(problems.map(({ path }) => path)).toEqual(['stale.md', 'absent.md']);
    expect(problems[0]?.message).toContain('differs');
  });
});

describe('the linter', () => {
  it('QA-15 refuses what the red fixture does, line by line', () => {
    const fixture = join(checkout, 'test', 'fixtures', 'lint');
    const eslint = join(checkout, 'node_modules', 'eslint', 'bin', 'eslint.js');
    const run = spawnSync(process.execPath, [eslint, '--format', 'json', '*.ts'], { cwd: fixture, encoding: 'utf8' });
    const results = JSON.parse(run.stdout) as { messages: { ruleId: string }[]; filePath: string }[];
    const found = results.flatMap(({ filePath, messages }) =>
      messages.map(({ ruleId }) => `${filePath.slice(fixture.length + 1)} ${ruleId}`),
    );
    expect(found.sort()).toEqual([
      'camel-case-log.ts no-restricted-syntax',
      'camel-case-log.ts no-restricted-syntax',
      'camel-case-log.ts no-restricted-syntax',
      'camel-case-log.ts no-restricted-syntax',
      'floating-promise.ts @typescript-eslint/no-floating-promises',
      'forgotten-case.ts @typescript-eslint/switch-exhaustiveness-check',
      'leaking-any.ts @typescript-eslint/no-unsafe-assignment',
      'swallowed-error.ts no-empty',
    ]);
  });
});
