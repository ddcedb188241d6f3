// Searching a pattern with * and ? in a text, word by word: it may begin and end wherever a word does. Takes time in proportion to the
// text, whatever the pattern.

/** What words and the names of files are made of; everything else parts them. */
const WORD = /[\p{L}\p{N}_.~+%-]/u;
const isWord = (char: string | undefined): boolean => char !== undefined && WORD.test(char);

/**
 * Whether the pattern occurs in the text: `*` stands for any characters, also none, and `?` for one. Where it does not begin or end
 * with `*`, it has to begin or end where a word does.
 */
export function occursIn(text: string, pattern: string): boolean {
  const parts = pattern.split('*');
  const last = parts.length - 1;
  let from = 0;
  for (const [index, part] of parts.entries()) {
    if (part === '') continue;
    const at = find(text, part, { from, atStart: index === 0, atEnd: index === last });
    if (at === undefined) return false;
    // The first place is the best one: it leaves most of the text to what follows.
    from = at + part.length;
  }
  return true;
}

interface Where {
  from: number;
  atStart: boolean;
  atEnd: boolean;
}

function find(text: string, part: string, where: Where): number | undefined {
  const mark = part.indexOf('?');
  const literal = mark === -1 ? part : part.slice(0, mark);
  for (let at = where.from; at + part.length <= text.length; at += 1) {
    if (literal !== '') at = text.indexOf(literal, at);
    if (at === -1 || at + part.length > text.length) return undefined;
    if (!fits(text, part, at)) continue;
    if (where.atStart && !beginsWord(text, at)) continue;
    if (where.atEnd && !endsWord(text, at + part.length)) continue;
    return at;
  }
  return undefined;
}

function fits(text: string, part: string, at: number): boolean {
  for (let index = 0; index < part.length; index += 1) {
    if (part[index] !== '?' && part[index] !== text[at + index]) return false;
  }
  return true;
}

/** A slash after a name goes on with a path, other signs begin something. */
const beginsWord = (text: string, at: number): boolean =>
  at === 0 || !isWord(text[at - 1]) || (!isWord(text[at]) && text[at] !== '/');

const endsWord = (text: string, end: number): boolean =>
  end === text.length || !isWord(text[end]) || !isWord(text[end - 1]);
