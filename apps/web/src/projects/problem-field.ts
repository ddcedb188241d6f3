// Which field of the form for a new project an error is about.
import type { Problem } from '../state/problem.js';

/** `undefined`: about the whole. A payload that does not parse names its fields as `details.fields: { path, message }[]`. */
export function fieldOf({ code, details }: Pick<Problem, 'code' | 'details'>): 'path' | 'name' | undefined {
  if (code.startsWith('project.path_')) return 'path';
  if (code !== 'request.invalid_payload') return undefined;
  const fields: unknown[] = Array.isArray(details?.['fields']) ? details['fields'] : [];
  const named = fields.map(firstKey);
  if (named.includes('path')) return 'path';
  return named.includes('name') ? 'name' : undefined;
}

/** `path` of a field's problem: its keys joined by dots. */
function firstKey(field: unknown): string | undefined {
  if (typeof field !== 'object' || field === null || !('path' in field)) return undefined;
  return typeof field.path === 'string' ? field.path.split('.')[0] : undefined;
}
