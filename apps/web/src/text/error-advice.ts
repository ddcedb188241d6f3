// What a person can do about an error: a sentence for the codes where the kind alone says too little.
import type { ErrorCode } from '#kernel';
import type { Problem } from '../state/problem.js';
import { t } from './index.js';

const BY_CODE: Partial<Record<ErrorCode, string>> = {
  'auth.token_missing': 'Enter the token.',
  'auth.token_invalid': 'Copy the token again from the last line of “make up”.',
  'auth.origin_refused': 'Open the page at the address that “make up” prints.',
  'protocol.unsupported_version': 'Reload the page to get the version that fits the server.',
  'connection.limit_reached': 'Close other tabs of this page, or wait a moment.',
  'project.path_relative': 'Give the whole path, beginning with a slash.',
  'project.path_traversal': 'Give the path without “.” and “..” parts.',
  'project.path_nul': 'Remove the NUL character from the path.',
  'project.path_not_directory': 'Choose a folder, not a file.',
  'project.path_not_writable': 'Give the folder to another user than root, or choose another folder.',
  'project.path_nested': 'Choose a folder that neither contains nor lies in another project.',
  'project.path_taken': 'Open the project that has this folder, or choose another one.',
  'project.not_found': 'It may have been deleted. Choose another project.',
  'run.none_active': 'Nothing is running any more.',
  'run.already_finished': 'It ended on its own meanwhile.',
  'run.timed_out': 'Ask for less at once, or allow more time.',
  'run.interrupted': 'Send it again: what was done until then is kept.',
  'command.not_found': 'Check the spelling, and whether the sandbox’s image contains the program.',
  'command.working_directory': 'Choose a folder inside the project.',
  'agent.not_installed': 'Whoever runs this server must install the agent’s tools: see “make logs”.',
  'agent.crashed': 'Send the prompt again: the conversation continues where it was.',
  'agent.model_error': 'The model’s service refused or failed. Try again, or check the key and its limits.',
  'agent.options_invalid': 'Change the options of the project or the prompt.',
  'permission.closed': 'The question is over; there is nothing left to answer.',
  'permission.input_mismatch': 'The question changed. Read it again before you answer.',
  'host.unavailable': 'The worker does not answer. Runs wait and go on when it is back.',
  'host.engine_unreachable': 'Docker does not answer. Runs wait and go on when it is back.',
  'sandbox.start_failed': 'Send it again. If it fails again, see “make logs”.',
  'sandbox.image_missing': 'Build or pull the project’s image, then send it again.',
  'sandbox.image_unsupported': 'Choose an image that has what is named here.',
  'sandbox.lost': 'Send it again: a new sandbox is started, files are kept.',
  'sandbox.out_of_memory': 'Use less memory at once, or raise the sandbox’s limit.',
  'broker.not_configured': 'Configure a key for the model’s service.',
  'request.rate_limited': 'Wait a moment and try again.',
  'feature.not_available': 'This is not available in this version.',
};

/** Where the error is shown, as far as the advice depends on it. */
export interface Circumstances {
  /** The demo model answers: there is no key to check. */
  readonly demo?: boolean;
  /** Folders beneath which projects may lie. */
  readonly roots?: readonly string[];
}

/** One sentence on what to do next. */
export function adviceFor({ code, kind }: Pick<Problem, 'code' | 'kind'>, { demo, roots }: Circumstances = {}): string {
  if (demo === true && code === 'agent.model_error') return t.demo.failed;
  if (code === 'project.path_outside_roots') return t.projects.form.outsideRoots(roots ?? []);
  return BY_CODE[code as ErrorCode] ?? t.problem.kind[kind];
}

/** What happened: the server's sentence, or the page's own for what it found out by itself. */
export function messageOf({ code, message }: Pick<Problem, 'code' | 'message'>): string {
  if (code === 'project.path_outside_roots') return ''; // the advice says it all
  return t.problem.client[code] ?? message;
}
