// Links between the project's own pages: the file is there, and the heading too. So is every path and npm script that a page names.
import { posix } from 'node:path';
import { isFixture, type Problem, type ProjectFile } from './project-files.ts';

const LINK = /!?\[[^\]]*\]\((?<target>[^)\s]+)(?:\s+"[^"]*")?\)/g;
/** A file or folder of the project in a code span; one with a placeholder (`libs/<part>`) is not meant literally. */
const NAMED_PATH = /`(?<path>(?:apps|docker|docs|libs|prisma|test|tools)\/[\w./@-]*)`/g;
const NAMED_SCRIPT = /`npm run (?:-s )?(?<script>[a-z][\w:-]*)/g;
const EXTERNAL = /^[a-z][a-z0-9+.-]*:/i;

/** Without code blocks, in which everything is only an example. Keeps the number of lines. */
const withoutBlocks = (text: string): string =>
  text.replace(/^(```|~~~)[\s\S]*?^\1/gm, (block) => block.replace(/[^\n]/g, ''));

const withoutCode = (text: string): string => withoutBlocks(text).replace(/`[^`\n]*`/g, '');

/** GitHub's anchors: lower case, punctuation dropped, blanks to hyphens, a number for a repeated heading. */
export function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  const seen = new Map<string, number>();
  for (const [, heading = ''] of withoutBlocks(text).matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)) {
    const slug = heading
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-');
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    anchors.add(count === 0 ? slug : `${slug}-${count}`);
  }
  return anchors;
}

/** `exists` answers for files and folders relative to the checkout. */
export function checkMarkdownLinks(files: readonly ProjectFile[], exists: (path: string) => boolean): Problem[] {
  const pages = new Map(files.filter(({ path }) => path.endsWith('.md')).map(({ path, text }) => [path, text]));
  const problemOf = (from: string, target: string): string | undefined => {
    if (EXTERNAL.test(target)) return undefined;
    const [file = '', anchor] = decodeURI(target).split('#', 2);
    const path =
      file === ''
        ? from
        : posix.normalize(file.startsWith('/') ? file.slice(1) : posix.join(posix.dirname(from), file));
    if (path.startsWith('..')) return `${target} leads out of the project.`;
    if (!exists(path)) return `${target} does not exist.`;
    const page = pages.get(path);
    return anchor === undefined || page === undefined || anchorsOf(page).has(anchor)
      ? undefined
      : `${path} has no heading #${anchor}.`;
  };
  const named = (path: string): string | undefined =>
    exists(path.replace(/\/$/, '')) ? undefined : `${path} does not exist.`;
  const scripts = scriptsOf(files);
  const script = (name: string): string | undefined =>
    scripts.includes(name) ? undefined : `npm run ${name}: there is no such script.`;
  return [...pages]
    .filter(([path]) => !isFixture(path))
    .flatMap(([path, text]) => [
      ...findAll(path, withoutCode(text), LINK, (match) => problemOf(path, match['target'] ?? '')),
      ...findAll(path, withoutBlocks(text), NAMED_PATH, (match) => named(match['path'] ?? '')),
      ...findAll(path, withoutBlocks(text), NAMED_SCRIPT, (match) => script(match['script'] ?? '')),
    ]);
}

function scriptsOf(files: readonly ProjectFile[]): string[] {
  const text = files.find(({ path }) => path === 'package.json')?.text ?? '{}';
  return Object.keys((JSON.parse(text) as { scripts?: Record<string, string> }).scripts ?? {});
}

function findAll(
  path: string,
  text: string,
  pattern: RegExp,
  problemOf: (groups: Record<string, string | undefined>) => string | undefined,
): Problem[] {
  return text.split('\n').flatMap((content, index) =>
    [...content.matchAll(pattern)].flatMap(({ groups = {} }) => {
      const message = problemOf(groups);
      return message === undefined ? [] : [{ path, line: index + 1, message }];
    }),
  );
}
