// Terminal sequences: colours are kept, everything else is dropped.
import fc from 'fast-check';
import { ANSI_START, type AnsiToken, parseAnsi } from './ansi-parser.js';
import { applySgr, PLAIN } from './ansi-style.js';

const tokensOf = (...chunks: string[]): AnsiToken[] => {
  let state = ANSI_START;
  return chunks.flatMap((chunk) => {
    const parsed = parseAnsi(state, chunk);
    state = parsed.state;
    return parsed.tokens;
  });
};
const textOf = (tokens: AnsiToken[]): string =>
  tokens.map((token) => (token.type === 'text' ? token.text : `<${token.type}>`)).join('');

/** Runs of text with the same style as one, for comparing. */
function joined(tokens: AnsiToken[]): unknown[] {
  const result: { text: string; style: string }[] = [];
  for (const token of tokens) {
    const style = token.type === 'text' ? JSON.stringify(token.style) : token.type;
    const last = result.at(-1);
    if (last?.style === style && token.type === 'text') last.text += token.text;
    else result.push({ text: token.type === 'text' ? token.text : '', style });
  }
  return result;
}

describe('parseAnsi', () => {
  it('WEB-27 keeps text, line feeds and what moves the line', () => {
    expect(textOf(tokensOf('a\tb\nc\rd\be\x1b[Kf'))).toBe('a\tb<newline>c<return>d<backspace>e<clear_line>f');
  });

  it.each([
    ['a title', '\x1b]0;owned\x07'],
    ['a title ended by ST', '\x1b]0;owned\x1b\\'],
    ['a link', '\x1b]8;;http://evil.example\x1b\\'],
    ['a clipboard write', '\x1b]52;c;ZXZpbA==\x07'],
    ['a device control string', '\x1bPq#0;2;0;0;0~\x1b\\'],
    ['an application command', '\x1b_payload\x1b\\'],
    ['a cursor move', '\x1b[10;20H'],
    ['clearing the screen', '\x1b[2J'],
    ['the other screen', '\x1b[?1049h'],
    ['a reset', '\x1bc'],
    ['a character set', '\x1b(B'],
    ['a bell', '\x07'],
    ['a C1 sequence', '\x9b31m'],
    ['a C1 string', '\x9d0;owned\x9c'],
    ['a private mode', '\x1b[>4;2m'],
  ])('WEB-27 drops %s', (_, sequence) => {
    expect(textOf(tokensOf(`before${sequence}after`))).toBe('beforeafter');
  });

  it('WEB-27 goes on after a string that never ended, at the next sequence', () => {
    expect(textOf(tokensOf('a\x1b]0;no end\x1b[31mred'))).toBe('ared');
  });

  it('WEB-27 drops the same however a text is cut into chunks', () => {
    const part = fc.oneof(
      fc.string({ maxLength: 5 }),
      fc.constantFrom(
        '\x1b[31m',
        '\x1b[0m',
        '\x1b]0;t\x07',
        '\x1b]8;;u\x1b\\',
        '\x1b[2K',
        '\x1b',
        '\x1b[',
        '\r',
        '\n',
        '\x9b1m',
        '\x1bP1\x1b\\',
      ),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), fc.array(fc.nat(60), { maxLength: 6 }), (parts, cuts) => {
        const text = parts.join('');
        const edges = [0, ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b), text.length];
        const chunks = edges.slice(1).map((edge, at) => text.slice(edges[at], edge));
        expect(joined(tokensOf(...chunks))).toEqual(joined(tokensOf(text)));
      }),
      { numRuns: 1000 },
    );
  });

  it('WEB-27 lets no control character through but tab', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0xa1 }), { maxLength: 40 }), (codes) => {
        const text = String.fromCharCode(...codes);
        const shown = tokensOf(text).flatMap((token) => (token.type === 'text' ? [token.text] : []));
        expect(shown.join('')).not.toMatch(/[\0-\x08\x0a-\x1f\x7f-\x9f]/);
      }),
    );
  });

  it('does not keep an endless sequence for the next chunk', () => {
    expect(parseAnsi(ANSI_START, `\x1b[${'1;'.repeat(500)}`).state.pending).toBe('');
  });
});

describe('applySgr', () => {
  it.each([
    ['', {}],
    ['0', {}],
    ['1;31', { bold: true, fg: 1 }],
    ['97;44', { fg: 15, bg: 4 }],
    ['38;5;196', { fg: '#ff0000' }],
    ['38;5;9', { fg: 9 }],
    ['48;5;244', { bg: '#808080' }],
    ['38;2;1;2;3;1', { fg: '#010203', bold: true }],
    ['38:2::1:2:3', { fg: '#010203' }],
    ['38:5:9', { fg: 9 }],
    ['4:3', { underline: true }],
    ['38;2;999;0;0', {}],
    ['38;5', { fg: 0 }],
    ['58;5;1', {}],
    ['77', {}],
  ])('WEB-27 reads %j as a style', (parameters, style) => {
    expect(applySgr(PLAIN, parameters)).toEqual(style);
  });

  it('takes back what was set', () => {
    const set = applySgr(PLAIN, '1;2;3;4;7;9;31;42');
    expect(applySgr(set, '22;23;24;27;29;39;49')).toEqual({
      bold: false,
      dim: false,
      italic: false,
      underline: false,
      inverse: false,
      strike: false,
      fg: undefined,
      bg: undefined,
    });
  });
});
