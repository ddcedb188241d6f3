// The lines of an output as a person sees them: colours kept, progress bars overwritten in place, memory bounded. Pure.
import type { StreamChannel } from '#kernel';
import type { AnsiToken } from './ansi-parser.js';
import type { AnsiStyle } from './ansi-style.js';

export interface Span {
  readonly text: string;
  readonly style: AnsiStyle;
  readonly channel: StreamChannel;
}

export interface Line {
  /** Counts from 0 and stays the same when earlier lines are dropped. */
  readonly number: number;
  readonly spans: readonly Span[];
  readonly length: number;
}

export interface Screen {
  readonly lines: readonly Line[];
  /** A carriage return came: the next text begins the line anew. */
  readonly atStart: boolean;
}

export const MAX_LINES = 4000;
/** A longer line goes on in the next one. UTF-16 code units. */
export const MAX_LINE_LENGTH = 4096;
export const EMPTY_SCREEN: Screen = { lines: [], atStart: false };

/** Writes a channel's tokens at the end. Keeps the newest MAX_LINES lines. */
export function write(screen: Screen, tokens: readonly AnsiToken[], channel: StreamChannel): Screen {
  if (tokens.length === 0) return screen;
  const lines = [...screen.lines];
  let line = lines.pop() ?? emptyLine(0);
  let { atStart } = screen;
  const nextLine = (): void => {
    lines.push(line);
    line = emptyLine(line.number + 1);
  };
  for (const token of tokens) {
    switch (token.type) {
      case 'newline':
        nextLine();
        atStart = false;
        break;
      case 'return':
        atStart = true;
        break;
      case 'clear_line':
        line = emptyLine(line.number);
        break;
      case 'backspace':
        line = withoutLast(line);
        break;
      case 'text': {
        if (atStart) line = emptyLine(line.number);
        atStart = false;
        let { text } = token;
        while (line.length + text.length > MAX_LINE_LENGTH) {
          const room = roomFor(text, MAX_LINE_LENGTH - line.length);
          line = append(line, { ...token, text: text.slice(0, room), channel });
          text = text.slice(room);
          nextLine();
        }
        line = append(line, { ...token, text, channel });
        break;
      }
    }
  }
  lines.push(line);
  return { lines: lines.length > MAX_LINES ? lines.slice(-MAX_LINES) : lines, atStart };
}

/** The text alone, as copying gives it. */
export function screenText(screen: Screen): string {
  return screen.lines.map(({ spans }) => spans.map(({ text }) => text).join('')).join('\n');
}

function emptyLine(number: number): Line {
  return { number, spans: [], length: 0 };
}

/** How much of the text fits without cutting a surrogate pair. */
function roomFor(text: string, room: number): number {
  return /[\uD800-\uDBFF]/.test(text[room - 1] ?? '') ? room - 1 : room;
}

function append(line: Line, { text, style, channel }: Span): Line {
  if (text === '') return line;
  const last = line.spans.at(-1);
  const same = last !== undefined && last.style === style && last.channel === channel;
  const spans = same
    ? [...line.spans.slice(0, -1), { ...last, text: last.text + text }]
    : [...line.spans, { text, style, channel }];
  return { ...line, spans, length: line.length + text.length };
}

function withoutLast(line: Line): Line {
  const last = line.spans.at(-1);
  if (last === undefined) return line;
  const text = [...last.text].slice(0, -1).join('');
  const spans = text === '' ? line.spans.slice(0, -1) : line.spans.with(-1, { ...last, text });
  return { ...line, spans, length: line.length - (last.text.length - text.length) };
}
