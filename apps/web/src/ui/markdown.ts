// Reads the common part of Markdown into a tree that React renders; nothing in it can become HTML, a script or a request.
// Images are shown as links, so that no text of a model makes the browser fetch anything by itself.

export type Inline =
  | { readonly type: 'text' | 'code'; readonly text: string }
  | { readonly type: 'strong' | 'emphasis' | 'strike'; readonly children: readonly Inline[] }
  | { readonly type: 'link'; readonly href: string; readonly children: readonly Inline[] };

export type Block =
  | { readonly type: 'paragraph'; readonly children: readonly Inline[] }
  | { readonly type: 'heading'; readonly level: number; readonly children: readonly Inline[] }
  | { readonly type: 'code'; readonly language: string; readonly text: string }
  | { readonly type: 'quote'; readonly blocks: readonly Block[] }
  | {
      readonly type: 'list';
      readonly ordered: boolean;
      readonly start: number;
      readonly items: readonly (readonly Block[])[];
    }
  | { readonly type: 'rule' };

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^\s`]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})(?:[-*+]|(\d{1,9})[.)])( +|$)/;
const MAX_DEPTH = 8;

/** Never throws; a text that is half written (a fence without its end) reads as far as it goes. */
export function parseMarkdown(source: string): Block[] {
  return parseBlocks(source.replace(/\r\n?/g, '\n').split('\n'), 0);
}

function parseBlocks(lines: readonly string[], depth: number): Block[] {
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? '';
    if (line.trim() === '') {
      at += 1;
      continue;
    }
    const parsed = parseBlock(lines, at, depth);
    blocks.push(parsed.block);
    at = parsed.next;
  }
  return blocks;
}

function parseBlock(lines: readonly string[], at: number, depth: number): { block: Block; next: number } {
  const line = lines[at] ?? '';
  const fence = FENCE.exec(line);
  if (fence !== null) return parseFence(lines, at, fence[1] ?? '', fence[2] ?? '');
  const heading = HEADING.exec(line);
  if (heading !== null) {
    const children = parseInline(heading[2] ?? '');
    return { block: { type: 'heading', level: (heading[1] ?? '').length, children }, next: at + 1 };
  }
  if (RULE.test(line)) return { block: { type: 'rule' }, next: at + 1 };
  if (depth < MAX_DEPTH && QUOTE.test(line)) {
    const end = endOf(lines, at, (text) => QUOTE.test(text));
    const inner = lines.slice(at, end).map((text) => text.replace(QUOTE, ''));
    return { block: { type: 'quote', blocks: parseBlocks(inner, depth + 1) }, next: end };
  }
  if (depth < MAX_DEPTH && ITEM.test(line)) return parseList(lines, at, depth);
  const end = Math.max(
    at + 1,
    endOf(lines, at, (text) => text.trim() !== '' && !startsBlock(text)),
  );
  return { block: { type: 'paragraph', children: parseInline(lines.slice(at, end).join('\n')) }, next: end };
}

function parseFence(
  lines: readonly string[],
  at: number,
  mark: string,
  language: string,
): { block: Block; next: number } {
  const closes = (text: string): boolean => text.trim().startsWith(mark) && /^[`~]+$/.test(text.trim());
  const end = endOf(lines, at + 1, (text) => !closes(text));
  return { block: { type: 'code', language, text: lines.slice(at + 1, end).join('\n') }, next: end + 1 };
}

function parseList(lines: readonly string[], at: number, depth: number): { block: Block; next: number } {
  const first = ITEM.exec(lines[at] ?? '');
  const ordered = first?.[2] !== undefined;
  const items: Block[][] = [];
  let next = at;
  for (;;) {
    const item = ITEM.exec(lines[next] ?? '');
    if (item === null || (item[2] !== undefined) !== ordered || RULE.test(lines[next] ?? '')) break;
    const indent = item[0].length;
    const end = itemEnd(lines, next + 1);
    const inner = lines.slice(next + 1, end).map((text) => text.slice(Math.min(indent, text.search(/\S|$/))));
    items.push(parseBlocks([(lines[next] ?? '').slice(indent), ...inner], depth + 1));
    next = end;
  }
  return { block: { type: 'list', ordered, start: Number(first?.[2] ?? 1), items }, next };
}

/** An item goes on over indented lines and the rest of its paragraph, and over blank lines that indented ones follow. */
function itemEnd(lines: readonly string[], from: number): number {
  let at = from;
  while (at < lines.length) {
    const line = lines[at] ?? '';
    const blank = line.trim() === '';
    if (blank && !/^ {2,}\S/.test(lines[at + 1] ?? '')) return nextItem(lines, at);
    if (!blank && !/^ {2,}/.test(line) && (startsBlock(line) || (lines[at - 1] ?? '').trim() === '')) return at;
    at += 1;
  }
  return at;
}

/** Items with blank lines between them are one list. */
function nextItem(lines: readonly string[], blank: number): number {
  return ITEM.test(lines[blank + 1] ?? '') ? blank + 1 : blank;
}

function startsBlock(line: string): boolean {
  return FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || ITEM.test(line);
}

function endOf(lines: readonly string[], from: number, goesOn: (line: string) => boolean): number {
  let at = from;
  while (at < lines.length && goesOn(lines[at] ?? '')) at += 1;
  return at;
}

const SAFE_LINK = /^(?:https?:\/\/|mailto:)[^\s\0-\x1f]+$/i;
const BARE_LINK = /^https?:\/\/[^\s<>"'`\\)\]]+[^\s<>"'`\\)\].,;:!?]/;
const LINK = /^!?\[([^\]\n]{0,1000})\]\(\s*<?([^\s<>()]{1,2000}(?:\([^\s()]*\)[^\s<>()]*)?)>?(?:\s+"[^"\n]*")?\s*\)/;
const SPANS = [
  { mark: '**', type: 'strong' },
  { mark: '__', type: 'strong' },
  { mark: '~~', type: 'strike' },
  { mark: '*', type: 'emphasis' },
  { mark: '_', type: 'emphasis' },
] as const;
const STOP = /[\\`*_~[!h]/g;

export function parseInline(source: string, depth = 0): Inline[] {
  const found: Inline[] = [];
  let text = '';
  let at = 0;
  const missing = new Set<string>(); // marks that have no partner in the rest: looked for once
  const flush = (): void => {
    if (text !== '') found.push({ type: 'text', text });
    text = '';
  };
  while (at < source.length) {
    const special = readSpecial(source, at, depth, missing);
    if (special === undefined) {
      STOP.lastIndex = at + 1;
      const next = STOP.exec(source)?.index ?? source.length;
      text += source.slice(at, next);
      at = next;
    } else {
      if ('text' in special) text += special.text;
      else {
        flush();
        found.push(special.node);
      }
      at = special.next;
    }
  }
  flush();
  return found;
}

/** A node of its own, or characters that stand for themselves. */
type Special = ({ readonly node: Inline } | { readonly text: string }) & { readonly next: number };

function readSpecial(source: string, at: number, depth: number, missing: Set<string>): Special | undefined {
  const char = source[at] ?? '';
  if (char === '\\' && /[!-/:-@[-`{-~]/.test(source[at + 1] ?? '')) return { text: source[at + 1] ?? '', next: at + 2 };
  if (char === '`') return readCode(source, at, missing);
  if (char === 'h' && !/\w/.test(source[at - 1] ?? '')) {
    const bare = BARE_LINK.exec(source.slice(at, at + 2000));
    if (bare === null) return undefined;
    return {
      node: { type: 'link', href: bare[0], children: [{ type: 'text', text: bare[0] }] },
      next: at + bare[0].length,
    };
  }
  if (depth >= MAX_DEPTH) return undefined;
  if (char === '[' || char === '!') return readLink(source, at, depth);
  return readSpan(source, at, depth, missing);
}

function readCode(source: string, at: number, missing: Set<string>): Special {
  const mark = /^`+/.exec(source.slice(at))?.[0] ?? '`';
  if (!missing.has(mark)) {
    let end = source.indexOf(mark, at + mark.length);
    while (end !== -1 && source[end + mark.length] === '`')
      end = source.indexOf(mark, end + source.slice(end).search(/[^`]|$/));
    if (end !== -1) {
      const inner = source.slice(at + mark.length, end);
      const padded = /^ .*[^ ].* $/s.test(inner) || /^ .*` $/s.test(inner);
      return { node: { type: 'code', text: padded ? inner.slice(1, -1) : inner }, next: end + mark.length };
    }
    missing.add(mark);
  }
  return { text: mark, next: at + mark.length };
}

function readLink(source: string, at: number, depth: number): Special | undefined {
  const link = LINK.exec(source.slice(at, at + 4000));
  if (link === null) return undefined;
  const href = link[2] ?? '';
  if (!SAFE_LINK.test(href)) return { text: link[0], next: at + link[0].length };
  const children = parseInline(link[1] === '' ? href : (link[1] ?? ''), depth + 1);
  return { node: { type: 'link', href, children: children.map(withoutLinks) }, next: at + link[0].length };
}

function readSpan(source: string, at: number, depth: number, missing: Set<string>): Special | undefined {
  for (const { mark, type } of SPANS) {
    if (!source.startsWith(mark, at) || missing.has(mark)) continue;
    const inWord = mark.startsWith('_') && /\w/.test(source[at - 1] ?? '');
    if (inWord || /\s|^$/.test(source[at + mark.length] ?? '')) continue;
    const end = closing(source, at + mark.length, mark);
    if (end === -1) {
      missing.add(mark);
      continue;
    }
    const children = parseInline(source.slice(at + mark.length, end), depth + 1);
    return { node: { type, children }, next: end + mark.length };
  }
  return undefined;
}

/** A closing mark follows no white space, is not part of a longer one, and for `_` ends a word. */
function closing(source: string, from: number, mark: string): number {
  for (let at = source.indexOf(mark, from + 1); at !== -1; at = source.indexOf(mark, at + 1)) {
    const after = source[at + mark.length] ?? '';
    if (/\s/.test(source[at - 1] ?? '')) continue;
    if (mark.length === 1 && (after === mark || source[at - 1] === mark)) continue;
    if (mark.startsWith('_') && /\w/.test(after)) continue;
    return at;
  }
  return -1;
}

/** A link inside a link keeps its words only. */
function withoutLinks(node: Inline): Inline {
  if (node.type === 'link') return { type: 'strong', children: node.children };
  return 'children' in node ? { ...node, children: node.children.map(withoutLinks) } : node;
}
