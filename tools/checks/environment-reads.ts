// The environment is read in one library; a main.ts hands it in. Tools and tests may read it as they are.
import ts from 'typescript';
import { isFixture, isTestCode, isTypeScript, type Problem, type ProjectFile } from './project-files.ts';
import { lineOf, nodesOf, parse } from './syntax.ts';

const mayRead = (path: string): boolean =>
  isTestCode(path) ||
  path.startsWith('libs/config/') ||
  /^apps\/[^/]+\/src\/main\.tsx?$/.test(path) ||
  path.startsWith('tools/') ||
  path === 'prisma.config.ts';

/** `process.env`, `process['env']`, `const { env } = process`, `import { env } from 'node:process'`. */
function readsEnvironment(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node)) return node.name.text === 'env' && endsInProcess(node.expression);
  if (ts.isElementAccessExpression(node)) {
    return (
      ts.isStringLiteral(node.argumentExpression) &&
      node.argumentExpression.text === 'env' &&
      endsInProcess(node.expression)
    );
  }
  if (ts.isVariableDeclaration(node)) {
    return (
      node.initializer !== undefined &&
      endsInProcess(node.initializer) &&
      ts.isObjectBindingPattern(node.name) &&
      node.name.elements.some((element) => (element.propertyName ?? element.name).getText() === 'env')
    );
  }
  return (
    ts.isImportSpecifier(node) &&
    (node.propertyName ?? node.name).text === 'env' &&
    /['"](node:)?process['"]$/.test(node.parent.parent.parent.moduleSpecifier.getText())
  );
}

/** `process`, `globalThis.process`, `global.process`. */
function endsInProcess(expression: ts.Expression): boolean {
  if (ts.isIdentifier(expression)) return expression.text === 'process';
  return ts.isPropertyAccessExpression(expression) && expression.name.text === 'process';
}

export function checkEnvironmentReads(files: readonly ProjectFile[]): Problem[] {
  return files
    .filter(({ path }) => isTypeScript(path) && !isFixture(path) && !mayRead(path))
    .flatMap((file) =>
      [...nodesOf(parse(file))].filter(readsEnvironment).map((node) => ({
        path: file.path,
        line: lineOf(node),
        message: 'Only libs/config reads the environment: take the parsed value as a parameter.',
      })),
    );
}
