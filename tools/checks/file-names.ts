// File names and first lines: what a file is for must be told by both.
import { isFixture, isTypeScript, type Problem, type ProjectFile } from './project-files.ts';

/** Names that say nothing, so that anything ends up in them. */
const VAGUE = /^(utils?|helpers?|types?|common|misc|shared)\./;
/** Below this a file explains itself. In lines. */
const SMALL = 15;

const opensWithSentence = (text: string): boolean =>
  /^(#!.*\n)?(\/\/ \S|\/\*\*?\s)/.test(text) || text.startsWith("'use strict'");

export function checkFileNames(files: readonly ProjectFile[]): Problem[] {
  const own = files.filter(({ path }) => /\.([cm]?[jt]sx?)$/.test(path) && !isFixture(path));
  return own.flatMap(({ path, text }) => {
    const name = path.split('/').at(-1) ?? '';
    const problems: Problem[] = [];
    if (VAGUE.test(name)) problems.push({ path, message: `${name} says nothing: name the file after its job.` });
    if (
      isTypeScript(path) &&
      !/[.-]spec\.tsx?$/.test(path) &&
      text.split('\n').length > SMALL &&
      !opensWithSentence(text)
    ) {
      problems.push({ path, line: 1, message: 'A file of any size opens with one sentence on its job.' });
    }
    return problems;
  });
}
