// The numbered rules of docs/spec against the tests that cite them (the form is defined in docs/spec/README.md).
import { isTestFile, type Problem, type ProjectFile } from './project-files.ts';
import { testCalls } from './test-calls.ts';

interface Place {
  id: string;
  path: string;
  line: number;
}

const RULE = /^- \*\*(?<id>[A-Z]{2,6}-[1-9]\d*)\*\* \S/;
/** A line that means to be a rule, but is not written as one. */
const NEARLY_RULE = /^\s*[-*] [*`]*[A-Z]{2,6}-\d+\b/;
/** Names of standards that look like rules at the beginning of a title. */
const STANDARDS = new Set(['UTF', 'SHA', 'ISO', 'RFC']);

const isSpecification = (path: string): boolean => /^docs\/spec\/[^/]+\.md$/.test(path) && !path.endsWith('/README.md');
const prefixOf = (id: string): string => id.slice(0, id.lastIndexOf('-'));

function rulesIn({ path, text }: ProjectFile): { rules: Place[]; problems: Problem[] } {
  const rules: Place[] = [];
  const problems: Problem[] = [];
  for (const [index, content] of text.split('\n').entries()) {
    const line = index + 1;
    const id = RULE.exec(content)?.groups?.['id'];
    if (id !== undefined) rules.push({ id, path, line });
    else if (NEARLY_RULE.test(content)) problems.push({ path, line, message: 'A rule is written `- **ABC-1** Text.`' });
  }
  return { rules, problems };
}

/** The rules that a title cites: those at its very beginning (`ABC-1`, `ABC-1, ABC-2`, `ABC-1 and ABC-2`). */
export function citedRules(title: string): string[] {
  const cited: string[] = [];
  const next = /([A-Z]{2,6}-\d+)\b(?:[,;:/&+]|\s|and\b)*/y;
  for (let match = next.exec(title); match !== null; match = next.exec(title)) cited.push(match[1] ?? '');
  return cited.filter((id) => !STANDARDS.has(prefixOf(id)));
}

/** Each rule that a file cites, at its first citation. */
function citationsOf(file: ProjectFile): Place[] {
  const first = new Map<string, Place>();
  for (const { title, line } of testCalls(file)) {
    for (const id of citedRules(title)) if (!first.has(id)) first.set(id, { id, path: file.path, line });
  }
  return [...first.values()];
}

function duplicates(rules: readonly Place[]): Problem[] {
  const first = new Map<string, Place>();
  const owner = new Map<string, string>();
  const problems: Problem[] = [];
  for (const rule of rules) {
    const earlier = first.get(rule.id);
    if (earlier !== undefined) {
      problems.push({ ...rule, message: `${rule.id} is defined twice, first in ${earlier.path}:${earlier.line}.` });
    }
    first.set(rule.id, earlier ?? rule);
    const prefix = prefixOf(rule.id);
    const home = owner.get(prefix) ?? rule.path;
    owner.set(prefix, home);
    if (home !== rule.path) problems.push({ ...rule, message: `Rules ${prefix}-… belong to ${home}.` });
  }
  return problems;
}

/** Pages that the index does not link to. */
function unlisted(files: readonly ProjectFile[]): Problem[] {
  const index = files.find(({ path }) => path === 'docs/spec/README.md')?.text;
  return files
    .filter(({ path }) => index !== undefined && isSpecification(path))
    .filter(({ path }) => index?.includes(`](${path.slice('docs/spec/'.length)})`) === false)
    .map(({ path }) => ({ path, message: 'docs/spec/README.md does not list this page.' }));
}

/**
 * Rules that pages speak of and that do not exist. Lines that define one, well or badly, are judged elsewhere. Only known
 * prefixes count: `UTF-8` and `CVE-2025` are none.
 */
function brokenMentions(files: readonly ProjectFile[], known: ReadonlySet<string>): Problem[] {
  const prefixes = new Set([...known].map(prefixOf));
  const isBroken = (id: string): boolean => prefixes.has(prefixOf(id)) && !known.has(id);
  const brokenIn = (line: string): string[] =>
    NEARLY_RULE.test(line) ? [] : [...line.matchAll(/\b[A-Z]{2,6}-\d+\b/g)].map(([id]) => id).filter(isBroken);
  return files
    .filter(({ path }) => path.endsWith('.md') && path !== 'docs/spec/README.md')
    .flatMap(({ path, text }) =>
      text
        .split('\n')
        .flatMap((content, index) =>
          brokenIn(content).map((id) => ({ path, line: index + 1, message: `${id} is in no page of docs/spec.` })),
        ),
    );
}

/** Rules without a test, cited rules that do not exist, numbers given twice, and lines that are nearly rules. */
export function checkSpecRules(files: readonly ProjectFile[]): Problem[] {
  const parsed = files.filter(({ path }) => isSpecification(path)).map(rulesIn);
  const rules = parsed.flatMap((page) => page.rules);
  const known = new Set(rules.map(({ id }) => id));
  const citations: Place[] = files.filter(({ path }) => isTestFile(path)).flatMap(citationsOf);
  const cited = new Set(citations.map(({ id }) => id));
  return [
    ...parsed.flatMap((page) => page.problems),
    ...duplicates(rules),
    ...unlisted(files),
    ...brokenMentions(files, known),
    ...rules
      .filter(({ id }) => !cited.has(id))
      .map(({ id, path, line }) => ({ path, line, message: `No test cites ${id}.` })),
    ...citations
      .filter(({ id }) => !known.has(id))
      .map(({ id, path, line }) => ({ path, line, message: `${id} is in no page of docs/spec.` })),
  ];
}
