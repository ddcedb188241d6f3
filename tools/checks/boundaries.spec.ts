// The import rules as `make test` runs them, in a process of their own (dependency-cruiser is an ES module only).
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { missingFindings, promisedFindings } from './boundary-findings.ts';

const check = join(import.meta.dirname, 'boundaries.ts');
const fixture = join(import.meta.dirname, '..', '..', 'test', 'fixtures', 'boundaries');

describe('boundaries', () => {
  it('QA-1 refuses a tree in which a file breaks a rule, and names file, target and rule', () => {
    const run = spawnSync(process.execPath, [check, '--tree', fixture], { encoding: 'utf8' });
    expect(run.status).toBe(1);
    expect(run.stderr).toContain('apps/web/src/imports-domain.ts -> libs/domain/src/index.ts');
    expect(run.stderr).toContain('web-libraries: What the browser loads');
  });

  it('QA-2 sees a rule that no longer fires, one that fires too much, and one that nothing tests', () => {
    const promised = [
      { rule: 'no-cycles', from: 'a.ts' },
      { rule: 'kernel-imports', from: 'b.ts' },
    ];
    const found = [
      { rule: 'kernel-imports', from: 'b.ts', to: 'c.ts' },
      { rule: 'web-libraries', from: 'd.ts', to: 'c.ts' },
    ];
    expect(missingFindings(promised, found, ['no-cycles', 'kernel-imports', 'web-libraries'])).toEqual([
      'The red fixture expects no-cycles in a.ts; it did not fire.',
      'In the red fixture fired unexpectedly: web-libraries in d.ts.',
      'Nothing in the red fixture breaks the rule no-cycles.',
    ]);
    expect(missingFindings(found, found, ['kernel-imports', 'web-libraries'])).toEqual([]);
  });

  it('QA-2 reads the promises of a fixture file from its first line and refuses a file without one', () => {
    expect(
      promisedFindings([
        { path: 'a.ts', text: '// breaks: one-rule, other-rule\nexport {};\n' },
        { path: 'b.ts', text: '// breaks nothing\nexport {};\n' },
        { path: 'c.ts', text: 'export {};\n' },
      ]),
    ).toEqual([
      { rule: 'one-rule', from: 'a.ts' },
      { rule: 'other-rule', from: 'a.ts' },
      { rule: 'a first line "// breaks: …"', from: 'c.ts' },
    ]);
  });
});
