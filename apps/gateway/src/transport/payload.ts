// A client's payload against its schema: strict, and with every wrong field named.
import type { z } from 'zod';
import { AppError } from '#kernel';

export interface FieldProblem {
  /** Dotted, e.g. `options.add_dirs.0`; empty for the payload itself. */
  path: string;
  message: string;
}

const MAX_PROBLEMS = 20;
/** Names of unknown keys are the client's own and may be long. */
const MAX_TEXT = 500;

/** Throws `request.invalid_payload` whose details are `{ fields: FieldProblem[] }`. Never repeats a value. */
export function parsePayload<T>(schema: z.ZodType<T>, payload: unknown): T {
  const parsed = schema.safeParse(payload);
  if (parsed.success) return parsed.data;
  throw invalidPayload(parsed.error.issues.flatMap((issue) => problemsOf(issue)));
}

export function invalidPayload(fields: FieldProblem[]): AppError {
  const first = fields[0];
  const where = first === undefined || first.path === '' ? 'The payload' : first.path;
  return new AppError('request.invalid_payload', `${where}: ${first?.message ?? 'is not valid'}`, {
    details: { fields: fields.slice(0, MAX_PROBLEMS) },
  });
}

function problemsOf(issue: z.core.$ZodIssue, prefix: PropertyKey[] = []): FieldProblem[] {
  const path = [...prefix, ...issue.path];
  if (issue.code === 'invalid_union') {
    const meant = issue.errors.find((branch) => !branch.some(isWrongKind));
    if (meant !== undefined) return meant.flatMap((inner) => problemsOf(inner, path));
  }
  return [{ path: path.map(String).join('.').slice(0, MAX_TEXT), message: issue.message.slice(0, MAX_TEXT) }];
}

/** The branch of a union that a payload was not meant for: it is of another type altogether. */
const isWrongKind = (issue: z.core.$ZodIssue): boolean => issue.code === 'invalid_type' && issue.path.length === 0;
