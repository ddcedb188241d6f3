// What a project's rules say to a question of its agent: ask a person, allow, or refuse. Pure; docs/spec/approvals.md says what a deny
// rule promises.
import { occursIn } from './loose-glob.js';
import type { PermissionAnswer } from './permission-record.js';
import { plainForms, straightPaths } from './plain-forms.js';

export interface DenyRule {
  /** Name of a tool, or `*`. */
  tool: string;
  /** Searched in the command or file path; without it every use of the tool is refused. */
  pattern?: string;
}
export interface PermissionPolicy {
  mode: 'ask' | 'allow_in_sandbox';
  deny: DenyRule[];
}
export interface PolicyQuestion {
  toolName: string;
  input: Record<string, unknown>;
}

/** Questions whose answer is the point of asking. */
const ALWAYS_ASKED = new Set(['askuserquestion', 'exitplanmode']);
/** Longer texts are not searched: a person is asked. Characters. */
const MAX_SEARCHED = 256 * 1024;
/** Paths of these tools are meant from here, unless they are absolute. */
const WORKING_DIRECTORY = '/workspace';

/** Where the agent's own tools carry what they do; of others, every text of their input is searched. */
const COMMAND_FIELDS: Readonly<Record<string, readonly string[]>> = { bash: ['command'] };
const PATH_FIELDS: Readonly<Record<string, readonly string[]>> = {
  read: ['file_path'],
  write: ['file_path'],
  edit: ['file_path'],
  multiedit: ['file_path'],
  notebookedit: ['notebook_path'],
  notebookread: ['notebook_path'],
};

/** Undefined: a person is asked. */
export function decideByPolicy(
  policy: PermissionPolicy | undefined,
  question: PolicyQuestion,
): PermissionAnswer | undefined {
  if (policy === undefined || ALWAYS_ASKED.has(question.toolName.toLowerCase())) return undefined;
  const rules = policy.deny.filter(({ tool }) => isMeant(tool, question.toolName));
  const whole = rules.find(({ pattern }) => pattern === undefined);
  if (whole !== undefined) return refusal(whole);
  if (rules.length > 0) {
    const texts = searchedTexts(question);
    if (texts.some((text) => text.length > MAX_SEARCHED)) return undefined;
    const forms = texts.map((text) => ({ text, plain: plainForms(text) }));
    const rule = rules.find(({ pattern = '' }) => forms.some((form) => isFoundIn(form, pattern)));
    if (rule !== undefined) return refusal(rule);
  }
  return policy.mode === 'allow_in_sandbox' ? { behavior: 'allow' } : undefined;
}

const isMeant = (tool: string, toolName: string): boolean =>
  tool === '*' || tool.trim().toLowerCase() === toolName.toLowerCase();

function isFoundIn({ text, plain }: { text: string; plain: string[] }, pattern: string): boolean {
  if (occursIn(text, pattern)) return true;
  return plainForms(pattern).some((form, index) => form !== '' && occursIn(plain[index] ?? '', form));
}

function searchedTexts({ toolName, input }: PolicyQuestion): string[] {
  const name = toolName.toLowerCase();
  const paths = PATH_FIELDS[name];
  if (paths !== undefined) return textsIn(paths.map((field) => input[field])).flatMap((path) => [path, absolute(path)]);
  const commands = COMMAND_FIELDS[name];
  return commands === undefined ? textsIn(input) : textsIn(commands.map((field) => input[field]));
}

const absolute = (path: string): string =>
  straightPaths(path.startsWith('/') || path.startsWith('~') ? path : `${WORKING_DIRECTORY}/${path}`);

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

function refusal({ tool, pattern }: DenyRule): PermissionAnswer {
  const rule = pattern === undefined ? `tool ${tool}` : `tool ${tool}, pattern ${pattern}`;
  return { behavior: 'deny', message: `The project's rules refuse this (${rule}).` };
}
