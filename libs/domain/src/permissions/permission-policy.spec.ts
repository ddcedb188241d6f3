// What the rules of a project catch, in whatever disguise, and what they leave alone.
import fc from 'fast-check';
import { occursIn } from './loose-glob.js';
import { decideByPolicy, type DenyRule, type PermissionPolicy } from './permission-policy.js';

const policy = (deny: DenyRule[], mode: PermissionPolicy['mode'] = 'allow_in_sandbox'): PermissionPolicy => ({
  mode,
  deny,
});
const bash = (command: string) => ({ toolName: 'Bash', input: { command, description: 'harmless' } });
const file = (toolName: string, filePath: string) => ({ toolName, input: { file_path: filePath } });
const behaviorOf = (rules: DenyRule[], question: Parameters<typeof decideByPolicy>[1]) =>
  decideByPolicy(policy(rules), question)?.behavior;

const NO_RM = [{ tool: 'Bash', pattern: 'rm -rf *' }];

it('APR-3 allows by itself what no rule matches, and only when it is told to', () => {
  expect(decideByPolicy(policy([]), bash('ls'))).toEqual({ behavior: 'allow' });
  expect(decideByPolicy(policy([], 'ask'), bash('ls'))).toBeUndefined();
  expect(decideByPolicy(undefined, bash('ls'))).toBeUndefined();
});

it('APR-3 asks a person what only a person can say, whatever the rules', () => {
  for (const toolName of ['AskUserQuestion', 'ExitPlanMode']) {
    expect(decideByPolicy(policy([{ tool: '*' }]), { toolName, input: {} })).toBeUndefined();
    expect(decideByPolicy(policy([]), { toolName, input: {} })).toBeUndefined();
  }
});

it('APR-4 refuses at once in both modes, and says by which rule', () => {
  for (const mode of ['ask', 'allow_in_sandbox'] as const) {
    expect(decideByPolicy(policy(NO_RM, mode), bash('rm -rf /workspace'))).toEqual({
      behavior: 'deny',
      message: "The project's rules refuse this (tool Bash, pattern rm -rf *).",
    });
  }
  expect(behaviorOf([{ tool: 'WebFetch' }], { toolName: 'WebFetch', input: { url: 'x' } })).toBe('deny');
  expect(behaviorOf([{ tool: '*', pattern: 'push' }], bash('git push'))).toBe('deny');
});

it.each([
  'rm -rf x',
  '  RM   -rf\tx',
  'cd x && rm -rf y',
  'true;rm -rf y',
  'true|rm -rf y',
  '(rm -rf y)',
  'echo $(rm -rf y)',
  'echo a`rm -rf y`b',
  'ls\nrm -rf y',
  "'rm' -rf y",
  '"r"m -rf y',
  'r\\m -rf y',
  'r\\\nm -rf y',
  '/bin/rm -rf y',
  '/usr/../bin/rm -rf y',
  'sudo rm -rf y',
  'env A=1 rm -rf y',
  'bash -c "rm -rf y"',
  "sh -c'rm -rf y'",
  'rm${IFS}-rf${IFS}y',
  'rm$IFS$9-rf y',
  'r$@m -rf y',
  '{rm,-rf,y}',
  "$'rm' -rf y",
  "$'\\x72m' -rf y",
  "$'\\162m' -rf y",
  "printf 'rm -rf y\\n' | sh",
  'x=1 rm -rf y',
  'xargs rm -rf < list',
  'rm -rf x;',
])('APR-5 finds the command in %p', (command) => {
  expect(behaviorOf(NO_RM, bash(command))).toBe('deny');
});

it.each(['ls -la', 'rm x', 'docker run --rm -rf y', 'farm -rf x', 'git push', 'rmdir x'])(
  'APR-5 lets %p pass',
  (command) => {
    expect(behaviorOf(NO_RM, bash(command))).toBe('allow');
  },
);

it.each([
  ['/workspace/.env', '.env', 'deny'],
  ['.env', '/workspace/.env', 'deny'],
  ['./a/../.ENV', '/workspace/.env', 'deny'],
  ['/workspace//.//.env', '/workspace/.env', 'deny'],
  ['/workspace/secret/a/b', '/workspace/secret/*', 'deny'],
  ['secret/a', 'secret', 'deny'],
  ['../etc/passwd', '/etc/*', 'deny'],
  ['/workspace/x/../../etc/passwd', '/etc/*', 'deny'],
  ['/workspace/etc/x', '/etc/*', 'allow'],
  ['/workspace/foo.env', '.env', 'allow'],
  ['/workspace/foo.env', '*.env', 'deny'],
  ['/workspace/environment', '.env', 'allow'],
])('APR-5 a file %p against the pattern %p: %s', (path, pattern, expected) => {
  for (const tool of ['Read', 'Write', 'Edit']) {
    expect(behaviorOf([{ tool: tool.toUpperCase(), pattern }], file(tool, path))).toBe(expected);
  }
});

it('APR-5 does not search what a file tool writes, and searches every text of a tool that it does not know', () => {
  const write = { toolName: 'Write', input: { file_path: 'notes', content: 'rm -rf /' } };
  expect(behaviorOf([{ tool: '*', pattern: 'rm -rf *' }], write)).toBe('allow');
  const foreign = { toolName: 'mcp__shell__run', input: { steps: [{ line: 'rm -rf /' }] } };
  expect(behaviorOf([{ tool: '*', pattern: 'rm -rf *' }], foreign)).toBe('deny');
});

it('APR-5 asks a person about a text that is too long to be searched', () => {
  expect(decideByPolicy(policy(NO_RM), bash('x'.repeat(300_000)))).toBeUndefined();
});

/** Ways to write one command that a shell takes for the same. */
const disguise = fc.constantFrom<(word: string) => string>(
  (word) => word,
  (word) => word.toUpperCase(),
  (word) => `'${word}'`,
  (word) => `"${word}"`,
  (word) => `${word.slice(0, 1)}\\${word.slice(1)}`,
  (word) => `${word.slice(0, 1)}''${word.slice(1)}`,
  (word) => `${word.slice(0, 1)}\\\n${word.slice(1)}`,
  (word) => `${word.slice(0, 1)}$@${word.slice(1)}`,
);
const gap = fc.constantFrom(' ', '   ', '\t', ' \t ', '${IFS}', '$IFS$9', ' \\\n ');
const before = fc.constantFrom(
  '',
  'ls; ',
  'cd x && ',
  'true|',
  '(',
  '$(',
  'sudo ',
  '/bin/',
  'x=$(',
  '\n',
  'bash -c "',
  'if ',
);
const after = fc.constantFrom('', ';', ' && ls', ')', ' --now', '\n', '"', ' # fine');
const word = fc.stringMatching(/^[a-z]{2,8}$/);

it('APR-5 is not evaded by case, blanks, quotes, backslashes, other commands around it or a path before it', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ word, how: disguise, gap }), { minLength: 1, maxLength: 4 }),
      before,
      after,
      (words, prefix, suffix) => {
        const pattern = words.map((each) => each.word).join(' ');
        const written = words.map((each, index) => (index === 0 ? '' : each.gap) + each.how(each.word)).join('');
        expect(behaviorOf([{ tool: 'Bash', pattern }], bash(prefix + written + suffix))).toBe('deny');
      },
    ),
    { numRuns: 2000 },
  );
});

it('APR-5 searches in time that grows with the text only', () => {
  const text = `${'a'.repeat(100_000)}b`;
  const began = performance.now();
  expect(occursIn(text, '*a*a*a*a*a*a*a*a*a*a*c')).toBe(false);
  expect(occursIn(text, `*${'a?'.repeat(20)}*c`)).toBe(false);
  expect(performance.now() - began).toBeLessThan(1_000);
});

it('APR-5 finds what a pattern without signs is, wherever words begin and end', () => {
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 6 }), fc.nat(5), (words, pick) => {
      const sought = words[pick % words.length] ?? '';
      expect(occursIn(words.join(' '), sought)).toBe(true);
      expect(occursIn(words.map((each) => `x${each}`).join(' '), sought)).toBe(
        words.some((each) => `x${each}` === sought),
      );
    }),
  );
});
