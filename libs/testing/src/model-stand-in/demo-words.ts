// The table of the demo words: how each is written, what it does, and how its arguments are read into the script.
import type { DemoScript, ToolStep } from './demo-script.js';

export interface DemoWord {
  form: string;
  effect: string;
  /** Adds the word to the script. Gives the reason when its arguments are wrong, else ''. */
  read(script: DemoScript, rest: string): string;
}

const WORDS_LIMIT = 1_000_000;
const DELAY_LIMIT_MS = 60_000;
const LIMIT_SECONDS = 1_000_000;
const CUT_AFTER_WORDS = 5;

const TABLE = {
  say: {
    form: 'demo:say <text>',
    effect: 'answers exactly that',
    read: (script, rest) => ends(script, { kind: 'say', text: rest }),
  },
  slow: {
    form: 'demo:slow <words> <ms>',
    effect: 'answers that many words, one every <ms> milliseconds',
    read: (script, rest) => {
      const [count, delayMs] = [integer(rest, 0, 1, WORDS_LIMIT), integer(rest, 1, 0, DELAY_LIMIT_MS)];
      if (count === undefined || delayMs === undefined) return 'it needs a number of words and of milliseconds';
      return ends(script, { kind: 'words', count, delayMs });
    },
  },
  long: {
    form: 'demo:long <words>',
    effect: 'answers that many words at once',
    read: (script, rest) => {
      const count = integer(rest, 0, 1, WORDS_LIMIT);
      if (count === undefined) return `it needs a number of words up to ${WORDS_LIMIT}`;
      return ends(script, { kind: 'words', count, delayMs: 0 });
    },
  },
  think: {
    form: 'demo:think <text>',
    effect: 'thinks that before it answers',
    read: (script, rest) => {
      script.thoughts.push({ afterTools: script.tools.length, text: rest || 'Let me think about that for a moment.' });
      return '';
    },
  },
  bash: {
    form: 'demo:bash <command>',
    effect: 'runs a command with the Bash tool; several with " ;; " between them',
    read: (script, rest) => {
      if (rest === '') return 'it needs a command';
      for (const command of rest.split(/\s+;;\s+/)) {
        script.tools.push({ name: 'Bash', input: { command, description: 'Run a command of the demo' } });
      }
      return '';
    },
  },
  write: {
    form: 'demo:write <path> <content>',
    effect: 'writes a file with the Write tool',
    read: (script, rest) => {
      const match = /^(\S+)\s([\s\S]*)$/.exec(rest);
      if (match === null) return 'it needs a path and some content';
      script.tools.push({ name: 'Write', input: { file_path: match[1], content: match[2] } });
      return '';
    },
  },
  tool: {
    form: 'demo:tool <Name> <json>',
    effect: 'asks for any tool',
    read: (script, rest) => {
      const step = parseTool(rest);
      if (step === undefined) return 'it needs the name of a tool and its input as a JSON object';
      script.tools.push(step);
      return '';
    },
  },
  together: {
    form: 'demo:together',
    effect: 'asks for all tools of the prompt in one message',
    read: (script) => {
      script.together = true;
      return '';
    },
  },
  remember: {
    form: 'demo:remember <text>',
    effect: 'keeps something in mind',
    read: (script, rest) => (rest === '' ? 'it needs a text' : ends(script, { kind: 'remember', text: rest })),
  },
  recall: {
    form: 'demo:recall',
    effect: 'tells what it was asked to remember in this conversation',
    read: (script) => ends(script, { kind: 'recall' }),
  },
  echo: {
    form: 'demo:echo',
    effect: 'answers with a JSON of what it received',
    read: (script) => ends(script, { kind: 'echo' }),
  },
  usage: {
    form: 'demo:usage <input> <output>',
    effect: 'reports these token counts',
    read: (script, rest) => {
      const [inputTokens, outputTokens] = [integer(rest, 0, 0, 1e9), integer(rest, 1, 0, 1e9)];
      if (inputTokens === undefined || outputTokens === undefined) return 'it needs two numbers of tokens';
      script.usage = { inputTokens, outputTokens };
      return '';
    },
  },
  error: {
    form: 'demo:error <status> [times]',
    effect: 'fails with an HTTP status (400 to 599), always or that many times',
    read: (script, rest) => {
      const status = integer(rest, 0, 400, 599);
      if (status === undefined) return 'it needs a status between 400 and 599';
      const times = integer(rest, 1, 1, 1e6) ?? Infinity;
      script.faults.push({ kind: 'error', afterTools: script.tools.length, status, times });
      return '';
    },
  },
  limit: {
    form: 'demo:limit <seconds>',
    effect: 'says that the usage limit is reached, until so many seconds later',
    read: (script, rest) => {
      const seconds = integer(rest, 0, 1, LIMIT_SECONDS);
      if (seconds === undefined) return 'it needs a number of seconds';
      script.faults.push({ kind: 'limit', afterTools: script.tools.length, seconds });
      return '';
    },
  },
  cut: {
    form: 'demo:cut [times] [words]',
    effect: 'drops the connection in the middle of its answer, once or that many times',
    read: (script, rest) => {
      const words = integer(rest, 1, 0, WORDS_LIMIT) ?? CUT_AFTER_WORDS;
      const times = integer(rest, 0, 1, 1e6) ?? 1;
      script.faults.push({ kind: 'cut', afterTools: script.tools.length, times, words });
      return '';
    },
  },
  hang: {
    form: 'demo:hang [words]',
    effect: 'never ends its answer (with a number: after that many words)',
    read: (script, rest) => {
      const words = integer(rest, 0, 0, WORDS_LIMIT);
      script.faults.push({ kind: 'hang', afterTools: script.tools.length, words });
      return '';
    },
  },
  help: {
    form: 'demo:help',
    effect: 'lists these words',
    read: (script) => ends(script, { kind: 'help' }),
  },
} satisfies Record<string, DemoWord>;

/** The words by name, in the order of the help text. */
export const DEMO_WORDS: ReadonlyMap<string, DemoWord> = new Map(Object.entries(TABLE));

function ends(script: DemoScript, ending: DemoScript['ending']): '' {
  script.ending = ending;
  return '';
}

/** The integer at a position of the arguments, when it is there and in range. */
function integer(rest: string, index: number, least: number, most: number): number | undefined {
  const text = rest.trim().split(/\s+/)[index];
  if (text === undefined || !/^\d{1,12}$/.test(text)) return undefined;
  const value = Number(text);
  return value >= least && value <= most ? value : undefined;
}

function parseTool(rest: string): ToolStep | undefined {
  const match = /^([\w.:-]+)(?:\s+([\s\S]+))?$/.exec(rest);
  if (match?.[1] === undefined) return undefined;
  const input = parseJson(match[2] ?? '{}');
  return isRecord(input) ? { name: match[1], input } : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the caller answers that the input is not a JSON object
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
