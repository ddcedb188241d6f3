// Turns a JSON Schema (draft 2020-12, as zod writes it) into the rows of a Markdown table: one field each, nested ones by their path.

export interface JsonSchema {
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
  type?: string;
  format?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  allOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
}

/** Largest integer that JSON carries exactly: zod's own bound of every integer, so it says nothing. */
const SAFE = Number.MAX_SAFE_INTEGER;

/** A closed list that is longer has a section of its own on the page. */
const LONG_LIST = 40;

const code = (text: string): string => `\`${text}\``;
/** In a table's cell: a bar would end it. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

export const nameOfRef = (ref: string): string => ref.replace('#/$defs/', '');
/** The heading of a model on the page, which no event's heading can be. */
export const modelHeading = (name: string): string => `${name} model`;
const linkTo = (name: string): string => `[${name}](#${modelHeading(name).toLowerCase().replaceAll(' ', '-')})`;

export function typeOf(schema: JsonSchema): string {
  if (schema.$ref !== undefined) return linkTo(nameOfRef(schema.$ref));
  if (schema.allOf?.[0] !== undefined) return typeOf(schema.allOf[0]);
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeOf))].join(' or ');
  if (schema.enum !== undefined && schema.enum.length > LONG_LIST) return `one of ${schema.enum.length} words`;
  if (schema.enum !== undefined) return schema.enum.map((value) => code(String(value))).join(', ');
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.type === 'array') return `${schema.items === undefined ? 'any' : typeOf(schema.items)}[]`;
  if (schema.type === 'string' && schema.format === 'uuid') return 'uuid';
  if (schema.type === 'string' && schema.format === 'date-time') return 'time';
  return schema.type ?? (schema.description === 'binary' ? 'binary' : 'any');
}

const isBound = (value: number | undefined): value is number => value !== undefined && Math.abs(value) < SAFE;

function rangeOf(schema: JsonSchema): string[] {
  const low = isBound(schema.minimum) ? schema.minimum : undefined;
  const high = isBound(schema.maximum) ? schema.maximum : undefined;
  const range =
    low !== undefined && high !== undefined
      ? [`${low} to ${high}`]
      : [...(low === undefined ? [] : [`at least ${low}`]), ...(high === undefined ? [] : [`at most ${high}`])];
  return [
    ...range,
    ...(schema.exclusiveMinimum === undefined ? [] : [`more than ${schema.exclusiveMinimum}`]),
    ...(schema.minLength === 1 ? ['not empty'] : []),
    ...(schema.maxLength === undefined || schema.format === 'uuid' ? [] : [`at most ${schema.maxLength} characters`]),
    ...(schema.minItems === undefined
      ? []
      : [`at least ${schema.minItems} ${schema.minItems === 1 ? 'item' : 'items'}`]),
    ...(schema.maxItems === undefined ? [] : [`at most ${schema.maxItems} items`]),
  ];
}

/** Types whose own word says what their description would. */
const SPEAKING: ReadonlySet<string> = new Set(['uuid', 'time', 'binary']);

function meaningOf(schema: JsonSchema): string {
  const inner =
    schema.items === undefined || schema.items.$ref !== undefined ? [] : rangeOf(schema.items).map((r) => `each ${r}`);
  const described = schema.description !== undefined && !SPEAKING.has(typeOf(schema)) ? [schema.description] : [];
  return [...described, ...rangeOf(schema), ...inner].join('; ');
}

/** The fields of an inline object, also of one in an array; models that are named elsewhere are only linked. */
function fieldsOf(schema: JsonSchema): { suffix: string; schema: JsonSchema } | undefined {
  if (schema.properties !== undefined) return { suffix: '', schema };
  const inner = schema.items === undefined ? undefined : fieldsOf(schema.items);
  return inner === undefined ? undefined : { suffix: `[]${inner.suffix}`, schema: inner.schema };
}

function rows(schema: JsonSchema, prefix = ''): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const optional = schema.required?.includes(name) === true ? '' : '?';
    const nested = fieldsOf(field);
    const path = `${prefix}${name}`;
    const own = `| ${code(path)}${optional} | ${cell(typeOf(field))} | ${cell(meaningOf(field))} |`;
    return [own, ...(nested === undefined ? [] : rows(nested.schema, `${path}${nested.suffix}.`))];
  });
}

/** A table of the fields of an object, or one line: a link to its model, or that there are none. */
export function tableOf(schema: JsonSchema): string[] {
  if (schema.$ref !== undefined) return [linkTo(nameOfRef(schema.$ref))];
  const fields = rows(schema);
  if (fields.length === 0) return ['No fields.'];
  const open = typeof schema.additionalProperties === 'object' ? ['', 'Further fields are possible.'] : [];
  return ['| field | type | meaning |', '|---|---|---|', ...fields, ...open];
}
