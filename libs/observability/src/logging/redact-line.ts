// The last thing that happens to a log line: secrets and prompts are taken out, whoever put them in.
// It works on the finished JSON line, so that fields, child bindings, serialised errors and messages pass the same gate.

/** What stands in a line instead of a value that must not be there. */
export const REDACTED = '[redacted]';

/** A field whose name ends in one of these words holds a secret or what a person typed (`api_key`, `authToken`, `updated_input`). */
const SENSITIVE_WORDS = [
  'token',
  'key',
  'secret',
  'password',
  'passwd',
  'passphrase',
  'authorization',
  'cookie',
  'credential',
  'prompt',
  'input',
  'stdin',
  'env',
  'argv',
  'payload',
] as const;
const SENSITIVE: ReadonlySet<string> = new Set(SENSITIVE_WORDS);
const ANY_SENSITIVE_WORD = new RegExp(SENSITIVE_WORDS.join('|'), 'i');

/** Secrets that are recognised by their look, wherever they stand. The replacement keeps the line valid JSON. */
const SENSITIVE_VALUES: readonly (readonly [RegExp, string])[] = [
  // The password of a URL: scheme://user:password@host
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^\s:@/"\\]*:)[^\s@/"\\]+(?=@)/gi, `$1${REDACTED}`],
  [/(\b(?:bearer|basic)\s+)[a-z0-9._~+/=-]{8,}/gi, `$1${REDACTED}`],
  // API keys of model providers, and the sign-in tokens of Gantry itself.
  [/\b(?:sk|gnt)[-_][a-z0-9_-]{12,}/gi, REDACTED],
];

/** Whether a field of this name is kept out of logs. Understands snake_case, kebab-case, camelCase and plurals. */
export function isSensitiveKey(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  const last = words.at(-1) ?? '';
  return SENSITIVE.has(last) || SENSITIVE.has(last.replace(/s$/, ''));
}

/** Numbers, booleans and null cannot carry a secret worth hiding, and `input_tokens: 12` is wanted. */
const isHarmless = (value: unknown): boolean =>
  value === null || typeof value === 'number' || typeof value === 'boolean';

function redactKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redactKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]): [string, unknown] => [
      name,
      isSensitiveKey(name) && !isHarmless(inner) ? REDACTED : redactKeys(inner),
    ]),
  );
}

/** One line of JSON as pino wrote it (with its line feed), without the secrets. */
export function redactLine(line: string): string {
  let safe = line;
  if (ANY_SENSITIVE_WORD.test(line)) {
    // The parse costs about a microsecond per 100 bytes, and only lines that name such a word pay it.
    safe = `${JSON.stringify(redactKeys(JSON.parse(line)))}\n`;
  }
  return SENSITIVE_VALUES.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), safe);
}
