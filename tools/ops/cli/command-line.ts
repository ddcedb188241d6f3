// Reads the command line, prints help, and turns outcomes into exit codes.
import { parseArgs } from 'node:util';
import { ReportedFailure, StepError } from '../step.ts';
import { COMMANDS, type Command } from './commands.ts';

/** Wrong use of the command line. */
const USAGE = 2;
const PROGRAM = 'node tools/bootstrap.mjs';

const COMMON_HELP: [string, string][] = [
  ['--yes', 'ask nothing'],
  ['--help', 'show this'],
];

const lines = (rows: readonly [string, string][]): string => {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`).join('\n');
};

export function helpText(): string {
  const commands = Object.entries(COMMANDS).map(([name, { summary }]): [string, string] => [name, summary]);
  return `Usage: ${PROGRAM} <command> [options], or make <command>\n\n${lines(commands)}\n\n${lines(COMMON_HELP)}\n`;
}

function commandHelp(name: string, { summary, optionHelp = {} }: Command): string {
  const own = Object.entries(optionHelp).map(([option, text]): [string, string] => [`--${option}`, text]);
  return `Usage: ${PROGRAM} ${name} [options]\n\n${summary}\n\n${lines([...own, ...COMMON_HELP])}\n`;
}

/** Gives the exit code: 0, 1 for a failure that was reported, 2 for wrong use. */
export async function runCommandLine(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    (name === undefined ? process.stderr : process.stdout).write(helpText());
    return name === undefined ? USAGE : 0;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) {
    process.stderr.write(`There is no command ${name}.\n\n${helpText()}`);
    return USAGE;
  }
  return runNamed(name, command, rest, env);
}

async function runNamed(name: string, command: Command, args: string[], env: NodeJS.ProcessEnv): Promise<number> {
  const parsed = parse(command, args);
  if (typeof parsed === 'string') {
    process.stderr.write(`${parsed}\n\n${commandHelp(name, command)}`);
    return USAGE;
  }
  if (parsed.values['help']) {
    process.stdout.write(commandHelp(name, command));
    return 0;
  }
  try {
    return await command.run({ env, yes: parsed.values['yes'] === true, values: parsed.values, rest: parsed.rest });
  } catch (error) {
    if (error instanceof ReportedFailure) return 1;
    if (error instanceof StepError) {
      process.stderr.write(`✗ ${name}: ${error.message}\n  Next: ${error.next}\n`);
      return 1;
    }
    throw error; // a mistake of ours: Node prints its stack and ends with 1
  }
}

interface Parsed {
  values: Record<string, string | boolean | undefined>;
  rest: string[];
}

/** The options, or what is wrong with them. */
function parse({ options = {} }: Command, args: string[]): Parsed | string {
  const end = args.indexOf('--');
  const [own, rest] = end === -1 ? [args, []] : [args.slice(0, end), args.slice(end + 1)];
  try {
    const { values } = parseArgs({
      args: own,
      options: { ...options, yes: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    });
    return { values, rest };
  } catch (error) {
    if (error instanceof TypeError) return error.message; // how parseArgs reports wrong options
    throw error;
  }
}
