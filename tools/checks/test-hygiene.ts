// What makes a suite say less than it seems to: tests that do not run, modules that are not the real ones, and sleeps.
import ts from 'typescript';
import { isFixture, isTestFile, isTypeScript, type Problem, type ProjectFile } from './project-files.ts';
import { lineOf, nameChain, nodesOf, parse } from './syntax.ts';
import { testCalls } from './test-calls.ts';

const NOT_RUN = new Set(['skip', 'only', 'todo', 'failing', 'concurrent']);
const MODULE_MOCKS = new Set([
  'mock',
  'doMock',
  'unstable_mockModule',
  'setMock',
  'createMockFromModule',
  'requireMock',
]);

function disabledTests(file: ProjectFile): Problem[] {
  return testCalls(file)
    .filter(({ names }) => /^[xf]/.test(names[0] ?? '') || names.some((name) => NOT_RUN.has(name)))
    .map(({ names, line }) => ({
      path: file.path,
      line,
      message: `${names.join('.')}: every test runs, alone and in order.`,
    }));
}

/** `setTimeout(resolve, …)` or `setTimeout(() => resolve(), …)`, where `resolve` is the first parameter of a promise's executor. */
function isSleep(node: ts.Node): boolean {
  if (!ts.isNewExpression(node) || nameChain(node.expression).at(-1) !== 'Promise') return false;
  const executor = node.arguments?.[0];
  if (executor === undefined || !(ts.isArrowFunction(executor) || ts.isFunctionExpression(executor))) return false;
  const resolve = executor.parameters[0]?.name;
  if (resolve === undefined || !ts.isIdentifier(resolve)) return false;
  for (const inner of nodesOf(executor.body)) {
    if (!ts.isCallExpression(inner) || nameChain(inner.expression).at(-1) !== 'setTimeout') continue;
    const callback = inner.arguments[0];
    if (callback !== undefined && onlyCalls(callback, resolve.text)) return true;
  }
  return false;
}

/** Whether a callback is the function `name` or does nothing but call it. */
function onlyCalls(callback: ts.Expression, name: string): boolean {
  if (ts.isIdentifier(callback)) return callback.text === name;
  if (!ts.isArrowFunction(callback) && !ts.isFunctionExpression(callback)) return false;
  const only = ts.isBlock(callback.body) ? callback.body.statements[0] : callback.body;
  if (ts.isBlock(callback.body) && callback.body.statements.length !== 1) return false;
  const call = only !== undefined && ts.isExpressionStatement(only) ? only.expression : only;
  return call !== undefined && ts.isCallExpression(call) && nameChain(call.expression).join() === name;
}

function refusedUse(node: ts.Node): string | undefined {
  if (isSleep(node)) return 'A sleep: wait for the event itself, or move a Clock.';
  if (ts.isImportDeclaration(node) && /^(node:)?timers\/promises$/.test(textOf(node.moduleSpecifier))) {
    return 'timers/promises in a test is a sleep: wait for the event itself, or move a Clock.';
  }
  if (!ts.isCallExpression(node)) return undefined;
  const [object, method] = nameChain(node.expression);
  return object === 'jest' && MODULE_MOCKS.has(method ?? '')
    ? `jest.${method}: pass a fake through a port instead of replacing a module.`
    : undefined;
}

const textOf = (node: ts.Expression): string => (ts.isStringLiteral(node) ? node.text : '');

export function checkTestHygiene(files: readonly ProjectFile[]): Problem[] {
  const tests = files.filter(
    ({ path }) => isTypeScript(path) && !isFixture(path) && (isTestFile(path) || path.startsWith('test/')),
  );
  return tests.flatMap((file) => [
    ...disabledTests(file),
    ...[...nodesOf(parse(file))].flatMap((node) => {
      const message = refusedUse(node);
      return message === undefined ? [] : [{ path: file.path, line: lineOf(node), message }];
    }),
  ]);
}
