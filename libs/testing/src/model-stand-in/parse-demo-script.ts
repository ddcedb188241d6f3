// Reads the demo words in a prompt. Pure; the words are documented in docs/spec/demo-model.md.
import { type DemoScript, emptyScript } from './demo-script.js';
import { DEMO_WORDS } from './demo-words.js';

const LINE = /^[ \t]*demo:([a-z]+)(?:[ \t]+|$)/;

/**
 * Reads the demo words of a prompt. A word counts at the start of a line; its text goes on to the next such line, so that
 * commands and files may have several lines. Lines before the first word are ignored. A word that is unknown or lacks its
 * arguments ends in an answer that says so (never in an exception), and nothing else of the prompt is done.
 */
export function parseDemoScript(prompt: string): DemoScript {
  const script = emptyScript();
  for (const { word, rest } of directives(prompt)) {
    const known = DEMO_WORDS.get(word);
    const reason = known === undefined ? 'there is no such word' : known.read(script, rest);
    if (reason !== '')
      return { ...emptyScript(), ending: { kind: 'misspelt', line: `demo:${word} ${rest}`.trim(), reason } };
  }
  return script;
}

/** The first line of each `demo:remember` of a text: a prompt, or the summary that stands for compacted prompts. */
export function remembered(text: string): string[] {
  return directives(text).flatMap(({ word, rest }) => {
    const line = rest.split('\n', 1)[0] ?? '';
    return word === 'remember' && line !== '' ? [line] : [];
  });
}

function directives(prompt: string): { word: string; rest: string }[] {
  const found: { word: string; lines: string[] }[] = [];
  for (const line of prompt.split(/\r?\n/)) {
    const match = LINE.exec(line);
    if (match?.[1] !== undefined) found.push({ word: match[1], lines: [line.slice(match[0].length)] });
    else found.at(-1)?.lines.push(line);
  }
  return found.map(({ word, lines }) => ({ word, rest: lines.join('\n').trim() }));
}
