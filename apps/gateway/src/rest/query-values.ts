// A query's texts as the values that its schema speaks of: numbers and truth values come as text.
import type { z } from 'zod';
import { parsePayload } from '../transport/payload.js';

const WHOLE_NUMBER = /^-?\d{1,16}$/;

/** What a field is below `optional()` and its like. */
function typeOf(schema: z.core.$ZodType): string {
  const { def } = schema._zod;
  return 'innerType' in def ? typeOf(def.innerType as z.core.$ZodType) : def.type;
}

/** What cannot be turned stays text, and the schema refuses it by its name. A field that comes twice is a list, which no schema takes. */
function valueOf(schema: z.core.$ZodType | undefined, text: unknown): unknown {
  if (schema === undefined || typeof text !== 'string') return text;
  const type = typeOf(schema);
  if (type === 'number' && WHOLE_NUMBER.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

/** Throws `request.invalid_payload`. Without a schema no field is taken. */
export function parseQuery<T extends z.ZodObject>(schema: T, query: Readonly<Record<string, unknown>>): z.infer<T> {
  const shape: Readonly<Record<string, z.core.$ZodType>> = schema.shape;
  const values = Object.entries(query).map(([name, text]) => [
    name,
    valueOf(Object.hasOwn(shape, name) ? shape[name] : undefined, text),
  ]);
  return parsePayload(schema, Object.fromEntries(values)) as z.infer<T>;
}
