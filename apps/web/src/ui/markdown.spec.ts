// Markdown that people and models write, and what must not come of it.
import fc from 'fast-check';
import { type Block, type Inline, parseInline, parseMarkdown } from './markdown.js';

const plain = (nodes: readonly Inline[]): string =>
  nodes.map((node) => ('children' in node ? plain(node.children) : node.text)).join('');
const links = (nodes: readonly Inline[]): string[] =>
  nodes.flatMap((node) => [
    ...(node.type === 'link' ? [node.href] : []),
    ...('children' in node ? links(node.children) : []),
  ]);
function textOf(blocks: readonly Block[]): string {
  return blocks
    .map((block) => {
      if (block.type === 'code') return block.text;
      if (block.type === 'list') return block.items.map(textOf).join(' ');
      if (block.type === 'quote') return textOf(block.blocks);
      return block.type === 'rule' ? '' : plain(block.children);
    })
    .join(' ');
}

describe('parseMarkdown', () => {
  it('reads headings, lists, code, quotes and rules', () => {
    const blocks = parseMarkdown('# T\n\ntext\nmore\n\n- a\n- b\n\n1. x\n2. y\n\n```ts\ncode *x*\n```\n> q\n\n---');
    expect(blocks.map(({ type }) => type)).toEqual(['heading', 'paragraph', 'list', 'list', 'code', 'quote', 'rule']);
    expect(blocks[3]).toMatchObject({ ordered: true, start: 1 });
    expect(blocks[4]).toEqual({ type: 'code', language: 'ts', text: 'code *x*' });
  });

  it('reads lists in lists, paragraphs in items, and lists with blank lines as one', () => {
    expect(parseMarkdown('- a\n  - b\n  - c\n- d')).toMatchObject([
      { type: 'list', items: [[{}, { type: 'list', items: [{}, {}] }], [{}]] },
    ]);
    expect(parseMarkdown('1. a\n\n   more\n\n2. b')).toMatchObject([{ type: 'list', items: [[{}, {}], [{}]] }]);
  });

  it('shows a code block that is still being written', () => {
    expect(parseMarkdown('Look:\n```py\nprint(1)')).toMatchObject([
      { type: 'paragraph' },
      { type: 'code', text: 'print(1)' },
    ]);
  });

  it('reads emphasis, code and links', () => {
    expect(parseInline('a **b _c_** `d*e` ~~f~~ [g](https://h.example/i)')).toEqual([
      { type: 'text', text: 'a ' },
      {
        type: 'strong',
        children: [
          { type: 'text', text: 'b ' },
          { type: 'emphasis', children: [{ type: 'text', text: 'c' }] },
        ],
      },
      { type: 'text', text: ' ' },
      { type: 'code', text: 'd*e' },
      { type: 'text', text: ' ' },
      { type: 'strike', children: [{ type: 'text', text: 'f' }] },
      { type: 'text', text: ' ' },
      { type: 'link', href: 'https://h.example/i', children: [{ type: 'text', text: 'g' }] },
    ]);
  });

  it.each(['snake_case_name', '2 * 3 * 4', 'a ** b', '`open', '**open', '_open', 'x*', '\\*not\\*'])(
    'leaves %j as it is',
    (text) => {
      expect(plain(parseInline(text))).toBe(text.replaceAll('\\', ''));
      expect(parseInline(text).every(({ type }) => type === 'text')).toBe(true);
    },
  );

  it('finds bare addresses, without the full stop after them', () => {
    expect(links(parseInline('See https://a.example/b?c=d. And (http://e.example).'))).toEqual([
      'https://a.example/b?c=d',
      'http://e.example',
    ]);
  });

  it.each([
    '[x](javascript:alert(1))',
    '[x](JaVaScRiPt:alert(1))',
    '[x](data:text/html,<script>alert(1)</script>)',
    '[x](vbscript:x)',
    '[x](//evil.example)',
    '[x](/relative)',
    '[x](\tjavascript:alert(1))',
    '![x](javascript:alert(1))',
    '[x](<javascript:alert(1)>)',
  ])('WEB-13 makes no link of %j', (text) => {
    expect(links(parseInline(text))).toEqual([]);
  });

  it('WEB-13 shows an image as a link, so that nothing is fetched', () => {
    expect(parseInline('![alt](https://evil.example/pixel.png)')).toMatchObject([
      { type: 'link', href: 'https://evil.example/pixel.png' },
    ]);
  });

  it('WEB-13 keeps markup as text', () => {
    expect(textOf(parseMarkdown('<img src=x onerror=alert(1)>\n<script>alert(1)</script>'))).toContain(
      '<script>alert(1)</script>',
    );
  });

  it('never throws, and loses no word', () => {
    const word = fc.stringMatching(/^[a-z]{1,6}$/);
    const mark = fc.constantFrom(
      '*',
      '**',
      '_',
      '`',
      '``',
      '~~',
      '[',
      '](',
      ')',
      '> ',
      '- ',
      '1. ',
      '# ',
      '```',
      '\n',
      '\n\n',
      ' ',
      '  ',
      '\\',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(word, mark), { maxLength: 40 }), (parts) => {
        const found = textOf(parseMarkdown(parts.join('')));
        // Words that became the name of a code block's language or the target of a link are not text.
        expect(typeof found).toBe('string');
        if (!parts.some((part) => /[`~([]/.test(part))) {
          for (const part of parts.filter((each) => /^[a-z]+$/.test(each))) expect(found).toContain(part);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('takes time in proportion to the text, whatever marks it is made of', () => {
    for (const mark of ['*', '**', '_', '`', '[', '![', '](', '> ', '- ', '~~', 'http://']) {
      const began = performance.now();
      parseMarkdown(mark.repeat(20_000));
      expect(performance.now() - began).toBeLessThan(1500);
    }
  });
});
