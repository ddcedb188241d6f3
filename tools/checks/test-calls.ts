// Every `it`, `test` and `describe` of a file, in all the ways Jest lets them be written.
import ts from 'typescript';
import type { ProjectFile } from './project-files.ts';
import { lineOf, nameChain, nodesOf, parse } from './syntax.ts';

export interface TestCall {
  /** `['it']`, `['describe', 'each']`, `['xit']`… */
  names: string[];
  /** Up to the first `${…}` of a template; empty if the title is not written there. */
  title: string;
  line: number;
}

const ROOTS = new Set(['it', 'test', 'describe', 'xit', 'xtest', 'xdescribe', 'fit', 'fdescribe']);

/** The callee's names: `it(…)`, `it.each(table)(…)` and `it.each\`table\`(…)` alike. */
function calleeNames(callee: ts.Expression): string[] {
  if (ts.isCallExpression(callee)) return nameChain(callee.expression);
  if (ts.isTaggedTemplateExpression(callee)) return nameChain(callee.tag);
  return nameChain(callee);
}

function titleOf(argument: ts.Expression | undefined): string {
  if (argument === undefined) return '';
  if (ts.isStringLiteralLike(argument)) return argument.text;
  return ts.isTemplateExpression(argument) ? argument.head.text : '';
}

export function testCalls(file: ProjectFile): TestCall[] {
  const calls: TestCall[] = [];
  for (const node of nodesOf(parse(file))) {
    if (!ts.isCallExpression(node)) continue;
    const names = calleeNames(node.expression);
    // The inner call of `it.each(table)(…)` has a table where a title would stand; the outer one is the test.
    const isTable =
      names.at(-1) === 'each' &&
      !ts.isCallExpression(node.expression) &&
      !ts.isTaggedTemplateExpression(node.expression);
    if (ROOTS.has(names[0] ?? '') && !isTable)
      calls.push({ names, title: titleOf(node.arguments[0]), line: lineOf(node) });
  }
  return calls;
}
