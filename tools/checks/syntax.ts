// TypeScript's own parser for the checks, so that a word in a string or comment is never taken for code.
import ts from 'typescript';
import type { ProjectFile } from './project-files.ts';

export const parse = ({ path, text }: ProjectFile): ts.SourceFile =>
  ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);

/** Every node of a file, parents before children. */
export function* nodesOf(root: ts.Node): Generator<ts.Node> {
  yield root;
  const children: ts.Node[] = [];
  root.forEachChild((child) => void children.push(child));
  for (const child of children) yield* nodesOf(child);
}

/** The line of a node, from 1. */
export const lineOf = (node: ts.Node): number => {
  const file = node.getSourceFile();
  return file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
};

/** `it.skip.each` as its names; empty if the expression is not a plain chain of names. */
export function nameChain(expression: ts.Expression): string[] {
  if (ts.isIdentifier(expression)) return [expression.text];
  if (!ts.isPropertyAccessExpression(expression)) return [];
  const left = nameChain(expression.expression);
  return left.length === 0 ? [] : [...left, expression.name.text];
}
