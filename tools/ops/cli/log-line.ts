// Makes a service's JSON log line readable: time, level, message, fields. What is no such line (Postgres, Redis) stays as it is.

const COLOURS: Record<string, string> = { fatal: '35', error: '31', warn: '33', info: '32', debug: '36', trace: '90' };
/** Said by the line's beginning, or of no use to a reader. */
const SHOWN_ELSEWHERE = new Set(['time', 'level', 'service', 'pid', 'msg', 'err']);
const LEVEL_WIDTH = 5;

type Fields = Record<string, unknown>;

/** A line of `createLogger` (OBS-1), or undefined. */
function parse(line: string): (Fields & { time: string; level: string }) | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const fields = JSON.parse(line) as Fields;
    const { time, level } = fields;
    return typeof time === 'string' && typeof level === 'string' ? { ...fields, time, level } : undefined;
  } catch {
    return undefined; // cut, or another program's
  }
}

/** Text from a log may hold anything: nothing of it may move the cursor or colour the terminal. */
const harmless = (text: string): string => text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, ' ');

/** A value without quotes where it reads the same. */
function valueText(value: unknown): string {
  const isPlain = typeof value === 'string' && /^[^\s"{}[\]=]+$/.test(value);
  return harmless(isPlain ? value : JSON.stringify(value));
}

/** An error on its own lines: code and message, its frames, then what caused it. */
function errorLines(error: unknown, word = 'error'): string[] {
  if (typeof error !== 'object' || error === null) return [`${word}: ${valueText(error)}`];
  const { name, message, code, kind: _kind, stack, cause, ...more } = error as Fields;
  const head = [code ?? name, message].flatMap((part) => (typeof part === 'string' ? [harmless(part)] : []));
  const fields = Object.entries(more).map(([key, value]) => ` ${key}=${valueText(value)}`);
  const frames = typeof stack === 'string' ? stack.split('\n').map((frame) => `  ${harmless(frame)}`) : [];
  const causes = cause === undefined ? [] : errorLines(cause, 'caused by');
  return [`${word}: ${head.join(': ')}${fields.join('')}`, ...frames, ...causes];
}

export interface LogLineStyle {
  colour: boolean;
}

/** One JSON line as one line, an error's lines after it. Times are in UTC, as they were logged. */
export function readableLines(line: string, { colour }: LogLineStyle): string[] {
  const fields = parse(line);
  if (!fields) return [harmless(line)];
  const paint = (text: string, code: string): string => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  const { time, level, msg, err } = fields;
  const more = Object.entries(fields)
    .filter(([name]) => !SHOWN_ELSEWHERE.has(name))
    .map(([name, value]) => `${harmless(name)}=${valueText(value)}`);
  const words = [
    paint(harmless(time.replace('T', ' ')), '90'),
    paint(harmless(level).toUpperCase().padEnd(LEVEL_WIDTH), COLOURS[level] ?? '0'),
    ...(typeof msg === 'string' ? [harmless(msg)] : []),
    ...(more.length > 0 ? [paint(more.join(' '), '90')] : []),
  ];
  return [words.join(' '), ...(err === undefined ? [] : errorLines(err).map((text) => `    ${text}`))];
}
