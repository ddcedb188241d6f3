// The one line of a tool's input that says most, whatever the tool.

const TELLING = ['command', 'file_path', 'pattern', 'path', 'url', 'query', 'prompt', 'description'];
const LONGEST = 200;

/** The first telling text of the input, else its first text; on one line, at most 200 characters. */
export function toolGist(input: Record<string, unknown>): string {
  const texts = [...TELLING.map((key) => input[key]), ...Object.values(input)];
  const found = texts.find((value): value is string => typeof value === 'string' && value.trim() !== '');
  const line = (found ?? '').trim().replace(/\s+/g, ' ');
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}
