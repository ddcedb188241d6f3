// Makes characters visible that would hide or reorder what a person is asked to approve.
// The two selectors that choose between text and picture of an emoji are let through.
// Source of the list: Unicode Technical Report 36 and "Trojan Source" (CVE-2021-42574).

const HIDDEN =
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** The text with each hidden character as its code point, e.g. `⟦U+202E⟧`. Tabs and line feeds stay. */
export function visibleText(text: string): string {
  return text.replace(
    HIDDEN,
    (char) => `⟦U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟧`,
  );
}
