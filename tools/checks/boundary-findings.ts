// What the import rules found, and what the red fixture promised that they would find.
import type { ICruiseResult, IForbiddenRuleType } from 'dependency-cruiser';

export interface Finding {
  rule: string;
  from: string;
  to: string;
}

/** Every violation of severity error, each once. */
export const findingsOf = (result: ICruiseResult): Finding[] =>
  result.summary.violations
    .filter(({ rule }) => rule.severity === 'error')
    .map(({ rule, from, to }) => ({ rule: rule.name, from, to }));

export const ruleNames = (rules: readonly IForbiddenRuleType[]): string[] =>
  rules.map(({ name }) => name ?? 'a rule without a name');

/** The fixture's promises, read from the first line of its files: `// breaks: rule, rule` or `// breaks nothing`. */
export function promisedFindings(sources: readonly { path: string; text: string }[]): Omit<Finding, 'to'>[] {
  return sources.flatMap(({ path, text }) => {
    const promise = /^\/\/ breaks(?: nothing|: (?<rules>[a-z, -]+))\n/.exec(text);
    if (promise === null) return [{ rule: 'a first line "// breaks: …"', from: path }];
    return (promise.groups?.['rules'] ?? '')
      .split(',')
      .map((rule) => rule.trim())
      .filter((rule) => rule !== '')
      .map((rule) => ({ rule, from: path }));
  });
}

/** The differences between promises and findings, and the rules that nothing in the fixture breaks. As sentences; empty is good. */
export function missingFindings(
  promised: readonly Omit<Finding, 'to'>[],
  found: readonly Finding[],
  rules: readonly string[],
): string[] {
  const key = ({ rule, from }: Omit<Finding, 'to'>): string => `${rule} in ${from}`;
  const promisedKeys = new Set(promised.map(key));
  const foundKeys = new Set(found.map(key));
  const fired = new Set(found.map(({ rule }) => rule));
  return [
    ...[...promisedKeys]
      .filter((name) => !foundKeys.has(name))
      .map((name) => `The red fixture expects ${name}; it did not fire.`),
    ...[...foundKeys]
      .filter((name) => !promisedKeys.has(name))
      .map((name) => `In the red fixture fired unexpectedly: ${name}.`),
    ...rules.filter((rule) => !fired.has(rule)).map((rule) => `Nothing in the red fixture breaks the rule ${rule}.`),
  ];
}
