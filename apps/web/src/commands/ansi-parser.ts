// Splits a program's text into what may be shown and what moves the line; of the escape sequences only colours are obeyed.
// Titles, links, clipboard writes, cursor moves and every other sequence are dropped. Source: ECMA-48; DEC's parser by P. Williams.
import { type AnsiStyle, applySgr, PLAIN } from './ansi-style.js';

export type AnsiToken =
  | { readonly type: 'text'; readonly text: string; readonly style: AnsiStyle }
  | { readonly type: 'newline' | 'return' | 'backspace' | 'clear_line' };

export interface AnsiState {
  readonly style: AnsiStyle;
  /** The beginning of a sequence that the last chunk cut off. */
  readonly pending: string;
  /** Inside a string (title, clipboard, device control) whose end has not come: everything up to it is dropped. */
  readonly inString: boolean;
}

export const ANSI_START: AnsiState = { style: PLAIN, pending: '', inString: false };

/** Longest unfinished sequence that is kept for the next chunk; a longer one is dropped. */
const MAX_PENDING = 256;
const ESC = '\x1b';
// Two-character and one-character (C1) forms of the same introducers.
const CSI = /^(?:\x1b\[|\x9b)([0-?]*)[ -/]*([@-~])/;
const CSI_BEGINS = /^(?:\x1b\[|\x9b)[0-?]*[ -/]*$/;
const STRING_BEGINS = /^(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])/;
/** As in xterm an escape that begins something else ends the string too; it is left for what it begins. */
const STRING_ENDS = /\x07|\x1b\\|\x9c|[\x18\x1a]|(?=\x1b[^\\])/;
const OTHER_ESCAPE = /^\x1b[ -/]*[0-~]/;
const OTHER_BEGINS = /^\x1b[ -/]*$/;
const SPECIAL = /[\0-\x1f\x7f-\x9f]/;

/** Reads a chunk. However a text is cut into chunks, the tokens' texts and moves are the same. */
export function parseAnsi(state: AnsiState, chunk: string): { state: AnsiState; tokens: AnsiToken[] } {
  const tokens: AnsiToken[] = [];
  let { style, inString } = state;
  let text = state.pending + chunk;
  while (text !== '') {
    const step: Step | undefined = inString ? leaveString(text) : (readPlain(text, style) ?? readSequence(text, style));
    if (step === undefined) {
      const pending = inString ? (text.endsWith(ESC) ? ESC : '') : text;
      return { state: { style, inString, pending: pending.length > MAX_PENDING ? '' : pending }, tokens };
    }
    if (step.token !== undefined) tokens.push(step.token);
    style = step.style ?? style;
    inString = step.inString ?? inString;
    text = text.slice(step.length);
  }
  return { state: { style, inString, pending: '' }, tokens };
}

/** What the beginning of a text means: how much of it, what it shows, and what it changes. */
interface Step {
  readonly length: number;
  readonly token?: AnsiToken | undefined;
  readonly style?: AnsiStyle;
  readonly inString?: boolean;
}

/** Undefined when the string does not end in this text. */
function leaveString(text: string): Step | undefined {
  const end = STRING_ENDS.exec(text);
  return end === null ? undefined : { length: end.index + end[0].length, inString: false };
}

/** Undefined when the text does not begin with something to show. */
function readPlain(text: string, style: AnsiStyle): Step | undefined {
  const end = text.search(SPECIAL);
  if (end === 0) return undefined;
  const length = end === -1 ? text.length : end;
  return { length, token: { type: 'text', text: text.slice(0, length), style } };
}

/** Undefined when the sequence is not whole. */
function readSequence(text: string, style: AnsiStyle): Step | undefined {
  const csi = CSI.exec(text);
  if (csi !== null) {
    const [{ length }, parameters = '', final] = csi;
    if (final === 'm') return { length, style: applySgr(style, parameters) };
    return { length, token: final === 'K' ? { type: 'clear_line' } : undefined };
  }
  if (CSI_BEGINS.test(text) || OTHER_BEGINS.test(text)) return undefined;
  const begin = STRING_BEGINS.exec(text);
  if (begin !== null) return { length: begin[0].length, inString: true };
  const other = OTHER_ESCAPE.exec(text);
  return other !== null ? { length: other[0].length } : { length: 1, token: CONTROLS.get(text[0] ?? '') };
}

/** The control characters that mean something here; all others are dropped. */
const CONTROLS = new Map<string, AnsiToken>([
  ['\n', { type: 'newline' }],
  ['\r', { type: 'return' }],
  ['\b', { type: 'backspace' }],
  ['\t', { type: 'text', text: '\t', style: PLAIN }],
]);
