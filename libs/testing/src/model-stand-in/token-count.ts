// Token counts of the demo model: a fixed rule, so that usage and cost in tests depend on nothing but the texts.

const CHARACTERS_PER_TOKEN = 4;

/** Tokens of a text: one for every four UTF-16 code units begun; 0 for the empty text. */
export function countTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}
