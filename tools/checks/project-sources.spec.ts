// The checks of the sources, each shown what it must refuse and what it must leave alone.
import { checkEnvironmentReads } from './environment-reads.ts';
import { checkFileNames } from './file-names.ts';
import { checkLockFile, checkMachineTraces, machineTraces } from './machine-traces.ts';
import { anchorsOf, checkMarkdownLinks } from './markdown-links.ts';
import type { ProjectFile } from './project-files.ts';

const file = (path: string, text: string): ProjectFile => ({ path, text });

describe('scripts in pages', () => {
  const scripts = file('package.json', '{ "scripts": { "docs": "x", "test:unit": "y" } }');
  const found = (text: string) => checkMarkdownLinks([scripts, file('CONTRIBUTING.md', text)], () => true);

  it('QA-13 refuses a script of npm that is not there', () => {
    expect(
      found('one\n`npm run doc`, `npm run -s test:unite -- x`').map(({ line, message }) => [line, message]),
    ).toEqual([
      [2, 'npm run doc: there is no such script.'],
      [2, 'npm run test:unite: there is no such script.'],
    ]);
  });

  it('QA-13 accepts those that are, and what is only a pattern', () => {
    expect(found('`npm run docs`, `npm run test:unit -- --watch`, `npm run` takes the right Node')).toEqual([]);
  });
});

describe('checkEnvironmentReads', () => {
  it.each([
    'const a = process.env.HOME;',
    "const a = process.env['HOME'];",
    "const a = process['env'];",
    'const { env } = process;',
    'const { env: e } = globalThis.process;',
    "import { env } from 'node:process';",
    "import { env as e } from 'process';",
  ])('QA-10 refuses %s in a library', (code) => {
    expect(checkEnvironmentReads([file('libs/jobs/src/queue.ts', code)])).toHaveLength(1);
  });

  it.each([
    ['libs/config/src/read.ts', 'process.env;'],
    ['apps/worker/src/main.ts', 'process.env;'],
    ['tools/build.ts', 'process.env;'],
    ['libs/jobs/src/queue.spec.ts', 'process.env;'],
    ['test/e2e/run.e2e-spec.ts', 'process.env;'],
    [
      'libs/jobs/src/queue.ts',
      "// process.env\nconst text = 'process.env'; child.env; import { pid } from 'node:process';",
    ],
  ])('QA-10 accepts it in %s', (path, code) => {
    expect(checkEnvironmentReads([file(path, code)])).toEqual([]);
  });
});

describe('checkMachineTraces', () => {
  it('QA-11 finds the folders and the package source of this machine', () => {
    const traces = machineTraces('/data7/someone/gantry', 'https://npm.corp.example/repository/', '/data7/someone');
    const texts = ['see /data7/someone/gantry/x', 'in /data7/someone/notes', 'from npm.corp.example', 'in /data8/x'];
    expect(checkMachineTraces([file('docs/a.md', texts.join('\n'))], traces).map(({ line }) => line)).toEqual([
      1, 2, 3,
    ]);
  });

  it('QA-11 takes public places and the public registry for no trace', () => {
    expect(machineTraces('/opt/gantry', 'https://registry.npmjs.org/', '/root')).toEqual([]);
    expect(machineTraces('/tmp/clone', 'https://registry.npmjs.org/', '/root')).toEqual([]);
  });

  it('QA-11 finds personal folders of anyone', () => {
    const problems = checkMachineTraces(
      [file('README.md', 'cd /home/robert/gantry\ncd /home/agent/x /home/p/y\n/Users/ann/x')],
      [],
    );
    expect(problems.map(({ line }) => line)).toEqual([1, 3]);
  });

  it('QA-11 refuses a lock file that names a private registry', () => {
    const lock = '{\n"resolved": "https://registry.npmjs.org/a",\n"resolved": "https://npm.corp.example/b"\n}';
    expect(checkLockFile([file('package-lock.json', lock)])).toMatchObject([{ line: 3 }]);
  });
});

describe('checkFileNames', () => {
  it.each(['libs/a/src/utils.ts', 'libs/a/src/helpers.ts', 'libs/a/src/types.ts', 'apps/web/src/common.tsx'])(
    'QA-12 refuses %s',
    (path) => {
      expect(checkFileNames([file(path, '')])).toHaveLength(1);
    },
  );

  it('QA-12 refuses a long file that does not say what it is for', () => {
    const long = 'const a = 1;\n'.repeat(20);
    expect(checkFileNames([file('libs/a/src/lane.ts', long)])).toHaveLength(1);
    expect(checkFileNames([file('libs/a/src/lane.ts', `// Lanes.\n${long}`)])).toEqual([]);
    expect(checkFileNames([file('libs/a/src/lane.ts', `/** Lanes. */\n${long}`)])).toEqual([]);
    expect(checkFileNames([file('libs/a/src/lane.spec.ts', long), file('libs/a/src/b.ts', 'export {};\n')])).toEqual(
      [],
    );
  });
});

describe('checkMarkdownLinks', () => {
  const exists = (path: string): boolean => ['README.md', 'docs/a.md', 'docs/spec', 'docs/my file.md'].includes(path);
  const problems = (text: string) =>
    checkMarkdownLinks(
      [file('docs/a.md', text), file('README.md', '# Top\n## Two words: `code`!\n## Two words code')],
      exists,
    );

  it.each([
    '[x](missing.md)',
    '![x](./missing.png)',
    '[x](../README.md#nowhere)',
    '[x](#nowhere)',
    '[x](../../outside.md)',
  ])('QA-13 refuses %s', (link) => {
    expect(problems(`# A\n\n${link}`)).toMatchObject([{ path: 'docs/a.md', line: 3 }]);
  });

  it.each([
    '[x](../README.md)',
    '[x](/README.md#top)',
    '[x](spec)',
    '[x](#a "title")',
    '[x](https://example.org/missing.md)',
    '`[x](missing.md)`',
    'see `docs/spec/`, `libs/<part>/src`, `apps/*/src` and `build/x`',
    '```\n[x](missing.md)\n```',
    '[x](my%20file.md)',
  ])('QA-13 accepts %s', (link) => {
    expect(problems(`# A\n\n${link}`)).toEqual([]);
  });

  it('QA-13 makes anchors as GitHub does', () => {
    expect([...anchorsOf('# Two words: `code`!\n## Two words code\n```\n# no heading\n```')]).toEqual([
      'two-words-code',
      'two-words-code-1',
    ]);
  });
});
