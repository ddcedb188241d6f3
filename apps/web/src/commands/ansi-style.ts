// Colours and weights of terminal text: the SGR sequence read into a style.
// Source: ECMA-48, 8.3.117; the 256 colours and 24-bit forms as in xterm (ctlseqs, "Character Attributes").

/** 0-15: a colour of the page's palette; else `#rrggbb`. */
export type AnsiColor = number | string;

export interface AnsiStyle {
  readonly fg?: AnsiColor | undefined;
  readonly bg?: AnsiColor | undefined;
  readonly bold?: boolean;
  readonly dim?: boolean;
  readonly italic?: boolean;
  readonly underline?: boolean;
  readonly strike?: boolean;
  readonly inverse?: boolean;
}

/** Read, so that its numbers are not taken for codes of their own, and not shown. */
const UNDERLINE_COLOR = 58;

export const PLAIN: AnsiStyle = {};

/** The style after a sequence with these parameters (the text between `ESC [` and `m`). Unknown ones change nothing. */
export function applySgr(style: AnsiStyle, parameters: string): AnsiStyle {
  const groups = parameters.split(';').map((group) => group.split(':').map((part) => (part === '' ? 0 : Number(part))));
  let next = style;
  for (let index = 0; index < groups.length; index += 1) {
    const group = groups[index] ?? [];
    const code = group[0] ?? 0;
    if (code !== 38 && code !== 48 && code !== UNDERLINE_COLOR) {
      next = simple(next, code, group[1]);
      continue;
    }
    // 38;5;n and 38;2;r;g;b spread over groups; 38:2::r:g:b is one group.
    const spread = group.length === 1;
    const values = spread ? groups.slice(index + 1, index + 5).map(([value]) => value ?? 0) : group.slice(1);
    const { color, used } = extended(values, spread);
    if (spread) index += used;
    if (color === undefined || code === UNDERLINE_COLOR) continue;
    next = code === 38 ? { ...next, fg: color } : { ...next, bg: color };
  }
  return next;
}

function simple(style: AnsiStyle, code: number, sub: number | undefined): AnsiStyle {
  if (code >= 30 && code <= 37) return { ...style, fg: code - 30 };
  if (code >= 90 && code <= 97) return { ...style, fg: code - 82 };
  if (code >= 40 && code <= 47) return { ...style, bg: code - 40 };
  if (code >= 100 && code <= 107) return { ...style, bg: code - 92 };
  if (code === 4 && sub === 0) return { ...style, underline: false };
  return SIMPLE.get(code)?.(style) ?? style;
}

const SIMPLE = new Map<number, (style: AnsiStyle) => AnsiStyle>([
  [0, () => PLAIN],
  [1, (style) => ({ ...style, bold: true })],
  [2, (style) => ({ ...style, dim: true })],
  [3, (style) => ({ ...style, italic: true })],
  [4, (style) => ({ ...style, underline: true })],
  [7, (style) => ({ ...style, inverse: true })],
  [9, (style) => ({ ...style, strike: true })],
  [21, (style) => ({ ...style, underline: true })],
  [22, (style) => ({ ...style, bold: false, dim: false })],
  [23, (style) => ({ ...style, italic: false })],
  [24, (style) => ({ ...style, underline: false })],
  [27, (style) => ({ ...style, inverse: false })],
  [29, (style) => ({ ...style, strike: false })],
  [39, (style) => ({ ...style, fg: undefined })],
  [49, (style) => ({ ...style, bg: undefined })],
]);

/** `used`: how many of the values belong to the colour. */
function extended(values: number[], spread: boolean): { color: AnsiColor | undefined; used: number } {
  const [mode = 0, ...rest] = values;
  if (mode === 5) return { color: indexed(rest[0] ?? 0), used: 2 };
  if (mode !== 2) return { color: undefined, used: 1 };
  const channels = !spread && rest.length > 3 ? rest.slice(1, 4) : rest.slice(0, 3); // a colour space may stand before r
  return { color: hex(channels), used: 4 };
}

function indexed(index: number): AnsiColor | undefined {
  if (!Number.isInteger(index) || index < 0 || index > 255) return undefined;
  if (index < 16) return index;
  if (index >= 232) return hex(Array<number>(3).fill(8 + 10 * (index - 232)));
  const level = (value: number): number => (value === 0 ? 0 : 55 + 40 * value);
  const cube = index - 16;
  return hex([level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)]);
}

function hex(channels: number[]): string | undefined {
  if (channels.length !== 3 || channels.some((value) => !Number.isInteger(value) || value < 0 || value > 255))
    return undefined;
  return `#${channels.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}
