// The checks of the tests themselves: what a title cites, and what must not stand in a test.
import type { ProjectFile } from './project-files.ts';
import { checkSpecRules, citedRules } from './spec-rules.ts';
import { testCalls } from './test-calls.ts';
import { checkTestHygiene } from './test-hygiene.ts';

const file = (path: string, text: string): ProjectFile => ({ path, text });
const page = (text: string, name = 'abc'): ProjectFile => file(`docs/spec/${name}.md`, text);
const spec = (text: string, path = 'libs/a/src/a.spec.ts'): ProjectFile => file(path, text);
const messages = (...files: ProjectFile[]): string[] => checkSpecRules(files).map(({ message }) => message);

describe('checkSpecRules', () => {
  it('QA-8 is content when every rule has a test, in any kind of test file and any form of title', () => {
    const rules = Array.from({ length: 9 }, (_value, index) => `- **ABC-${index + 1}** Text.`).join('\n');
    expect(
      messages(
        page(rules),
        spec("it('ABC-1 does', () => {}); test(`ABC-2 ${x}`, f);"),
        spec("it.each([1])('ABC-3 %s', f); it.each`a`('ABC-4', f);", 'apps/web/src/page.spec.tsx'),
        spec("describe('ABC-5, ABC-6 and ABC-7', f);", 'test/e2e/run.e2e-spec.ts'),
        spec("it('ABC-8', f);", 'libs/testing/src/port.contract.ts'),
        spec("it('ABC-9', f);", 'tools/checks/a.spec.ts'),
      ),
    ).toEqual([]);
  });

  it('QA-8 refuses a rule without a test, also when it is only mentioned', () => {
    const untested = ["it('does ABC-1', f);", "it('ABC-10', f);", "// it('ABC-1', f);", 'const t = "it(\'ABC-1\')";'];
    const rules = '- **ABC-1** Text.\n- **ABC-10** Text.';
    expect(messages(page(rules), spec(untested.join('\n')))).toEqual(['No test cites ABC-1.']);
  });

  it('QA-8 does not count titles of files that Jest does not run', () => {
    expect(messages(page('- **ABC-1** Text.'), spec("it('ABC-1', f);", 'libs/a/src/a.ts'))).toHaveLength(1);
    expect(messages(page('- **ABC-1** Text.'), spec("it('ABC-1', f);", 'test/fixtures/a.spec.ts'))).toHaveLength(1);
  });

  it('QA-8 refuses a cited rule that does not exist, once per file', () => {
    const cites = "it('ABC-1', f); it('ABC-2', f); it('ABC-2 again', f); it('XYZ-1', f);";
    expect(messages(page('- **ABC-1** Text.'), spec(cites))).toEqual([
      'ABC-2 is in no page of docs/spec.',
      'XYZ-1 is in no page of docs/spec.',
    ]);
  });

  it('QA-8 refuses a number given twice and a prefix of two pages', () => {
    const test = spec("it('ABC-1, ABC-2', f);");
    expect(messages(page('- **ABC-1** One.\n- **ABC-1** Two.\n- **ABC-2** Three.'), test)).toEqual([
      'ABC-1 is defined twice, first in docs/spec/abc.md:1.',
    ]);
    expect(messages(page('- **ABC-1** One.'), page('- **ABC-2** Two.', 'other'), test)).toEqual([
      'Rules ABC-… belong to docs/spec/abc.md.',
    ]);
  });

  it.each([
    '- **ABC-2**: Text.',
    '- ABC-2 Text.',
    '- `ABC-2` Text.',
    '* **ABC-2** Text.',
    '  - **ABC-2** Text.',
    '- **ABC-2**',
  ])('QA-8 refuses a line that is nearly a rule: %s', (line) => {
    expect(messages(page(`- **ABC-1** Text.\n${line}`), spec("it('ABC-1', f);"))).toEqual([
      'A rule is written `- **ABC-1** Text.`',
    ]);
  });

  it('QA-8 refuses a page that the index does not list', () => {
    const pages = [page('# One', 'one'), page('# Two', 'two'), file('docs/spec/README.md', 'See [one](one.md).')];
    expect(checkSpecRules(pages)).toMatchObject([{ path: 'docs/spec/two.md' }]);
  });

  it('QA-8 refuses a page that speaks of a rule that does not exist', () => {
    const mention = file('docs/MAP.md', 'Held by ABC-1.\nAnd by ABC-2, in UTF-8.');
    expect(checkSpecRules([page('- **ABC-1** Text.'), spec("it('ABC-1', f);"), mention])).toEqual([
      { path: 'docs/MAP.md', line: 2, message: 'ABC-2 is in no page of docs/spec.' },
    ]);
  });

  it('QA-8 reads citations only at the beginning of a title, and knows standards from rules', () => {
    expect(citedRules('ABC-1 ABC-2: both, unlike ABC-3')).toEqual(['ABC-1', 'ABC-2']);
    expect(citedRules('UTF-8 is kept')).toEqual([]);
    expect(citedRules('takes ABC-1')).toEqual([]);
  });
});

describe('testCalls', () => {
  it('QA-8 finds tests in all their forms and takes tables for no title', () => {
    const calls = testCalls(
      spec("describe.each([['t', 1]])('a %s', () => { it.only('b', f);\n test('c', f); }); other.it('d');"),
    );
    expect(calls.map(({ title, line }) => [title, line])).toEqual([
      ['a %s', 1],
      ['b', 1],
      ['c', 2],
    ]);
  });
});

describe('checkTestHygiene', () => {
  it.each([
    "it.skip('a', f);",
    "test.only('a', f);",
    "describe.skip('a', f);",
    "it.todo('a');",
    "xit('a', f);",
    "fdescribe('a', f);",
    "it.skip.each([1])('a', f);",
    "it.failing('a', f);",
    "jest.mock('./a.js');",
    "jest.doMock('./a.js');",
    "jest.unstable_mockModule('./a.js', f);",
    'await new Promise((resolve) => setTimeout(resolve, 100));',
    'await new Promise<void>((done) => { setTimeout(() => done(), 100); });',
    'await new Promise(function (r) { globalThis.setTimeout(() => { r(1); }, 100); });',
    "import { setTimeout as sleep } from 'node:timers/promises';",
  ])('QA-9 refuses %s', (code) => {
    expect(checkTestHygiene([spec(code)])).toHaveLength(1);
    expect(checkTestHygiene([spec(code, 'test/e2e/start-up.ts')])).toHaveLength(1);
  });

  it.each([
    "it('a', f);",
    'jest.fn(); jest.spyOn(a, b); jest.useFakeTimers();',
    'new Promise((resolve, reject) => { setTimeout(() => reject(new Error("late")), 100); on(resolve); });',
    'setTimeout(() => child.kill(), 100);',
    "const text = 'it.skip(1)'; // jest.mock('./a.js')",
    'new Promise(setImmediate);',
  ])('QA-9 accepts %s', (code) => {
    expect(checkTestHygiene([spec(code)])).toEqual([]);
  });

  it('QA-9 leaves production code alone', () => {
    const wait = 'await new Promise((resolve) => setTimeout(resolve, 100));';
    expect(checkTestHygiene([spec(wait, 'libs/a/src/back-off.ts')])).toEqual([]);
  });
});
