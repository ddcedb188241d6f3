// Reads a program's options out of its environment and reports every problem together, by option and without any value (CFG-1, CFG-2).
import { AppError } from '#kernel';
import type { FallbackOption, Option, OptionalOption, Program, RequiredOption } from './option.js';
import { OPTIONS, type OptionName } from './options.js';

export type Environment = Readonly<Record<string, string | undefined>>;

type Catalogue = typeof OPTIONS;
type NamesReadBy<P extends Program> = {
  [N in OptionName]: P extends Catalogue[N]['readBy'][number] ? N : never;
}[OptionName];

type ValueOf<O, P extends Program> =
  O extends RequiredOption<infer T, Program>
    ? P extends 'make'
      ? T | undefined
      : T
    : O extends FallbackOption<infer T, Program>
      ? T
      : O extends OptionalOption<infer T, Program>
        ? T | undefined
        : never;

/** The values of the options that a program reads; asking for another program's option is a type error (CFG-5). */
export type ValuesOf<P extends Program> = { readonly [N in NamesReadBy<P>]: ValueOf<Catalogue[N], P> };

export interface Problem {
  option: string;
  problem: string;
}

/** A rule over several options. It sees only values that are valid by themselves and gives its problems. */
export type CrossRule<P extends Program> = (values: Partial<ValuesOf<P>>) => Problem[];

const OWN_PREFIX = 'GANTRY_';

export function optionsReadBy(program: Program): [OptionName, Option][] {
  return (Object.entries(OPTIONS) as [OptionName, Option][]).filter(([, option]) => option.readBy.includes(program));
}

/** The part of an environment that `program` may be given: the options that it reads, and nothing else (CFG-5). */
export function environmentFor(program: Program, env: Environment): Record<string, string> {
  const names = optionsReadBy(program).map(([name]) => name);
  return Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}

/** Names that look like ours and are not in the catalogue: most likely a slip of the pen (CFG-4). */
function unknownOptions(env: Environment): Problem[] {
  return Object.keys(env)
    .filter((name) => name.startsWith(OWN_PREFIX) && !(name in OPTIONS))
    .map((option) => ({ option, problem: 'is not an option of Gantry; see docs/configuration.md' }));
}

/** An empty variable counts as unset: compose files pass empty strings for what is not set. */
const textOf = (env: Environment, name: string): string | undefined => (env[name] === '' ? undefined : env[name]);

function readOne(program: Program, option: Option, text: string | undefined): { value?: unknown; problems: string[] } {
  if (text !== undefined) {
    const result = option.schema.safeParse(text);
    return result.success
      ? { value: result.data, problems: [] }
      : { problems: result.error.issues.map((issue) => issue.message) };
  }
  if (option.presence === 'fallback') return { value: option.fallback, problems: [] };
  return { problems: option.presence === 'required' && program !== 'make' ? ['is required'] : [] };
}

/**
 * The typed values of every option that `program` reads.
 * Throws `config.invalid` whose details are `{ problems: { option, problem }[] }`: all of them, from single options and from `rules`.
 */
export function readOptions<P extends Program>(
  program: P,
  env: Environment,
  rules: readonly CrossRule<P>[],
): ValuesOf<P> {
  const values: Record<string, unknown> = {};
  const problems = unknownOptions(env);
  for (const [name, option] of optionsReadBy(program)) {
    const outcome = readOne(program, option, textOf(env, name));
    if ('value' in outcome) values[name] = outcome.value;
    problems.push(...outcome.problems.map((problem) => ({ option: name, problem })));
  }
  problems.push(...rules.flatMap((rule) => rule(values as Partial<ValuesOf<P>>)));
  if (problems.length > 0) throw invalid(program, problems);
  return values as ValuesOf<P>;
}

function invalid(program: Program, problems: Problem[]): AppError {
  const lines = problems.map(({ option, problem }) => `  ${option} ${problem}`);
  return new AppError('config.invalid', `The configuration of ${program} is invalid:\n${lines.join('\n')}`, {
    details: { problems },
  });
}
