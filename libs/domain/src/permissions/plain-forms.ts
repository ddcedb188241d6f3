// One command can be written in many ways that a shell takes for the same. These are the forms in which a deny rule is looked for: each
// takes away another kind of disguise, from the text and from the pattern alike.

/** What is the same to a shell, or to most of what it starts. */
const common = (text: string): string =>
  text
    .toLowerCase()
    .replace(/\\\r?\n/g, '') // a line that goes on
    .replace(/\$ifs\b|\$\{ifs\}/g, ' ')
    .replace(/\$(?:[0-9@]|\{[0-9@*]\})/g, ''); // arguments that a script of one line does not have

/** Blanks are one, and none beside what parts commands. */
const tightened = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .replace(/ ?([;&|<>()]) ?/g, '$1')
    .trim();

const withoutQuotes = (text: string): string => text.replace(/['"\\]/g, '');
const quotesAsBlanks = (text: string): string => text.replace(/['"\\]/g, ' ');
const listsAsWords = (text: string): string => withoutQuotes(text).replace(/[{},]/g, ' ');

/** $'\x72m' and printf '\162m': what the escapes stand for. */
const unescaped = (text: string): string =>
  withoutQuotes(
    text
      .replace(/\\(?:x([0-9a-f]{1,2})|u\{?([0-9a-f]{1,6})\}?)/g, (whole, byte?: string, point?: string) =>
        characterOf(parseInt(byte ?? point ?? '', 16), whole),
      )
      .replace(/\\0?([0-7]{1,3})/g, (whole, octal: string) => characterOf(parseInt(octal, 8), whole)),
  ).toLowerCase();

const characterOf = (code: number, otherwise: string): string =>
  code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : otherwise;

/** Paths without detours: a//b, a/./b and a/c/../b are a/b, and what leads up out of everything begins at the root. */
export function straightPaths(text: string): string {
  let straight = text.replace(/\/(?:\.?\/)+/g, '/').replace(/(^|[^\w.~+%/-])(?:\.\/)+/g, '$1');
  for (let before = ''; before !== straight;) {
    before = straight;
    straight = straight.replace(/(^|[^\w.~+%-])(?!\.\.?\/)([\w.~+%-]+)\/\.\.(?:\/|(?![\w.~+%-]))/g, '$1');
    straight = straight.replace(/\/(?!\.\.?\/)[\w.~+%-]+\/\.\.(?=\/|$|[^\w.~+%-])/g, '');
  }
  return straight.replace(/(^|[^\w.~+%/-])\/?(?:\.\.\/)+/g, '$1/');
}

const FORMS: readonly ((text: string) => string)[] = [
  withoutQuotes,
  quotesAsBlanks,
  listsAsWords,
  unescaped,
  (text) => straightPaths(withoutQuotes(text)),
];

/** The same text without each kind of disguise, always in the same order. Empty where nothing is left. */
export const plainForms = (text: string): string[] => FORMS.map((form) => tightened(form(common(text))));
