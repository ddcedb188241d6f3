// Characters that hide.
import { visibleText } from './visible-text.js';

describe('visibleText', () => {
  it.each([
    ['reversed', 'a\u202eb', 'a⟦U+202E⟧b'],
    ['zero width', 'a\u200bb', 'a⟦U+200B⟧b'],
    ['isolated', '\u2066a\u2069', '⟦U+2066⟧a⟦U+2069⟧'],
    ['a terminal sequence', '\x1b[2Jx', '⟦U+001B⟧[2Jx'],
    ['a carriage return', 'good\rbad', 'good⟦U+000D⟧bad'],
    ['a tag character', `a${String.fromCodePoint(0xe0041)}`, 'a⟦U+E0041⟧'],
    ['a byte order mark', '\ufeffa', '⟦U+FEFF⟧a'],
  ])('WEB-15 shows what is %s', (_, hidden, visible) => {
    expect(visibleText(hidden)).toBe(visible);
  });

  it('WEB-15 leaves words of any language, line feeds, tabs and emoji alone', () => {
    for (const text of ['größer\n\t日本語', 'שלום', '⚠️ 🎉', 'été']) expect(visibleText(text)).toBe(text);
  });
});
