// Holds the direction of imports: cruises the tree with the rules of boundary-rules.ts, then the red fixture, in which every
// rule must find exactly the files that say they break it. `--tree <folder>` cruises only that folder.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { cruise } from 'dependency-cruiser';
import { boundaries } from './boundary-rules.ts';
import { type Finding, findingsOf, missingFindings, promisedFindings, ruleNames } from './boundary-findings.ts';

const checkout = join(import.meta.dirname, '..', '..');
const fixture = join(checkout, 'test', 'fixtures', 'boundaries');
const ROOTS = ['apps', 'libs', 'tools', 'test', 'prisma.config.ts'];

async function findingsIn(baseDir: string): Promise<{ findings: Finding[]; modules: number }> {
  const roots = ROOTS.filter((root) => globSync(root, { cwd: baseDir }).length > 0);
  const { output } = await cruise(roots, {
    ...boundaries.options,
    baseDir,
    validate: true,
    ruleSet: { forbidden: boundaries.forbidden },
  });
  if (typeof output === 'string') throw new Error('dependency-cruiser answered with text instead of its result.');
  return { findings: findingsOf(output), modules: output.summary.totalCruised };
}

/** What is wrong with the fixture itself: a rule that did not fire where it should, or fired where it should not. */
async function fixtureProblems(): Promise<string[]> {
  const readImports = (folder: string): unknown =>
    (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { imports: unknown }).imports;
  if (!isDeepStrictEqual(readImports(fixture), readImports(checkout))) {
    return ['test/fixtures/boundaries/package.json must have the same "imports" as package.json.'];
  }
  const sources = globSync('**/*.ts', { cwd: fixture }).map((path) => ({
    path: path.replaceAll('\\', '/'),
    text: readFileSync(join(fixture, path), 'utf8'),
  }));
  const { findings } = await findingsIn(fixture);
  return missingFindings(promisedFindings(sources), findings, ruleNames(boundaries.forbidden));
}

const onlyTree = process.argv.indexOf('--tree');
const { findings, modules } = await findingsIn(onlyTree < 0 ? checkout : join(process.argv[onlyTree + 1] ?? '.'));
const problems = findings.map(({ rule, from, to }) => {
  const comment = boundaries.forbidden.find(({ name }) => name === rule)?.comment ?? '';
  return `${from} -> ${to}\n    ${rule}: ${comment}`;
});
if (onlyTree < 0) problems.push(...(await fixtureProblems()));
for (const problem of problems) console.error(problem);
console.log(`boundaries: ${modules} modules, ${boundaries.forbidden.length} rules, ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;
