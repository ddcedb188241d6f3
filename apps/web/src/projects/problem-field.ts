// Which field of the form for a new project an error is about.
import type { Problem } from '../state/problem.js';

/** `undefined`: about the whole. A payload that does not parse names its fields in `details` (zod's issues). */
export function fieldOf({ code, details }: Pick<Problem, 'code' | 'details'>): 'path' | 'name' | undefined {
  if (code.startsWith('project.path_')) return 'path';
  if (code !== 'request.invalid_payload') return undefined;
  const issues = Array.isArray(details?.['issues']) ? (details['issues'] as unknown[]) : [];
  const named = issues.map(firstKey);
  if (named.includes('path')) return 'path';
  return named.includes('name') ? 'name' : undefined;
}

/** An issue's path is a list of keys or those keys joined by dots. */
function firstKey(issue: unknown): unknown {
  if (typeof issue !== 'object' || issue === null || !('path' in issue)) return undefined;
  const { path } = issue;
  if (Array.isArray(path)) return (path as unknown[])[0];
  return typeof path === 'string' ? path.split('.')[0] : undefined;
}
