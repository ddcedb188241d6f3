// The HTTP routes for scripts. Each has the client event whose use-case it is: its role, its schemas and its words are that event's.
import { z } from 'zod';
import { CLIENT_EVENTS, type ClientEventName } from './client-events.js';
import { LIMITS } from './limits.js';
import { eventInfo, runInfo } from './models.schema.js';
import { id, seq } from './primitives.schema.js';

export const REST_PREFIX = '/api/v1';

export type RestMethod = 'GET' | 'POST' | 'PATCH' | 'DELETE';
export type RestTag = 'Projects' | 'Sessions' | 'Runs' | 'Messages' | 'Service';

export interface RestRoute {
  method: RestMethod;
  /** Below REST_PREFIX, with `{parameters}` that are ids. */
  path: string;
  tag: RestTag;
  /** Undefined: what the event says. */
  summary?: string;
  description?: string;
  /** The events whose roles it takes; none: everybody, without a token. */
  events: readonly ClientEventName[];
  query?: z.ZodObject;
  body?: z.ZodType<Record<string, unknown>>;
  /** Takes the header Idempotency-Key. */
  idempotent?: true;
  /** The status of success and its body: JSON by `schema`, or another `mediaType` (of JSON lines: each by `schema`), or none. */
  answer: {
    status: 200 | 201 | 204;
    schema?: z.ZodType;
    mediaType?: string;
    /** Also with 206 and the header Range. */
    ranges?: true;
    /** Says where what was made is. */
    location?: true;
  };
}

const request = {
  projectCreate: CLIENT_EVENTS.project_create.request,
  execute: CLIENT_EVENTS.execute.request,
  command: CLIENT_EVENTS.execute_command.request,
};
const wait = z
  .int()
  .min(0)
  .max(LIMITS.restWaitMs)
  .optional()
  .describe('Answer when the run is over, after this many ms at the latest');
const waiting = z.strictObject({ wait });

/** A run to be made: the payload of `execute` or of `execute_command`, told apart by `kind`. */
export const newRun = z.discriminatedUnion('kind', [
  request.execute.omit({ project_id: true, idempotency_key: true }).extend({ kind: z.literal('prompt') }),
  request.command.omit({ project_id: true, idempotency_key: true }).extend({ kind: z.literal('command') }),
]);

/** The last line of an export: only a file that ends with it is whole. */
export const exportEnd = z.object({
  type: z.literal('export.complete'),
  project_id: id,
  after_seq: seq.describe('Where the export began'),
  through_seq: seq.describe('The newest event when it began; go on with it as after_seq'),
  count: z.int().describe('Lines before this one'),
});
/** A line of an export. */
export const exportLine = z.union([eventInfo, exportEnd]);

const projects = {
  listProjects: {
    method: 'GET',
    path: '/projects',
    tag: 'Projects',
    events: ['project_list'],
    query: CLIENT_EVENTS.project_list.request,
    answer: { status: 200, schema: CLIENT_EVENTS.project_list.data },
  },
  createProject: {
    method: 'POST',
    path: '/projects',
    tag: 'Projects',
    events: ['project_create'],
    body: request.projectCreate.omit({ idempotency_key: true }),
    idempotent: true,
    answer: { status: 201, schema: CLIENT_EVENTS.project_create.data, location: true },
  },
  getProject: {
    method: 'GET',
    path: '/projects/{project_id}',
    tag: 'Projects',
    events: ['project_get'],
    answer: { status: 200, schema: CLIENT_EVENTS.project_get.data },
  },
  updateProject: {
    method: 'PATCH',
    path: '/projects/{project_id}',
    tag: 'Projects',
    events: ['project_update'],
    body: CLIENT_EVENTS.project_update.request.omit({ project_id: true }),
    answer: { status: 200, schema: CLIENT_EVENTS.project_update.data },
  },
  deleteProject: {
    method: 'DELETE',
    path: '/projects/{project_id}',
    tag: 'Projects',
    events: ['project_delete'],
    answer: { status: 204 },
  },
} as const satisfies Record<string, RestRoute>;

const sessions = {
  listSessions: {
    method: 'GET',
    path: '/sessions',
    tag: 'Sessions',
    summary: 'Conversations of all projects, newest first.',
    events: ['session_list'],
    query: CLIENT_EVENTS.session_list.request.omit({ project_id: true }),
    answer: { status: 200, schema: CLIENT_EVENTS.session_list.data },
  },
  listProjectSessions: {
    method: 'GET',
    path: '/projects/{project_id}/sessions',
    tag: 'Sessions',
    summary: 'Conversations of a project, newest first.',
    events: ['project_get', 'session_list'],
    query: CLIENT_EVENTS.session_list.request.omit({ project_id: true }),
    answer: { status: 200, schema: CLIENT_EVENTS.session_list.data },
  },
  getSession: {
    method: 'GET',
    path: '/sessions/{session_id}',
    tag: 'Sessions',
    events: ['session_get'],
    answer: { status: 200, schema: CLIENT_EVENTS.session_get.data },
  },
} as const satisfies Record<string, RestRoute>;

const runs = {
  listRuns: {
    method: 'GET',
    path: '/projects/{project_id}/runs',
    tag: 'Runs',
    events: ['run_list'],
    query: CLIENT_EVENTS.run_list.request.omit({ project_id: true }),
    answer: { status: 200, schema: CLIENT_EVENTS.run_list.data },
  },
  createRun: {
    method: 'POST',
    path: '/projects/{project_id}/runs',
    tag: 'Runs',
    summary: 'Queues a prompt or a shell command.',
    description:
      'A prompt without session_id continues the current conversation, or begins one. A command is an argv array, or one string for `sh -c`.',
    events: ['execute', 'execute_command'],
    query: waiting,
    body: newRun,
    idempotent: true,
    answer: { status: 201, schema: runInfo, location: true },
  },
  getRun: {
    method: 'GET',
    path: '/runs/{run_id}',
    tag: 'Runs',
    events: ['run_get'],
    query: waiting,
    answer: { status: 200, schema: CLIENT_EVENTS.run_get.data },
  },
  cancelRun: {
    method: 'POST',
    path: '/runs/{run_id}/cancel',
    tag: 'Runs',
    events: ['run_cancel'],
    query: waiting,
    answer: { status: 200, schema: CLIENT_EVENTS.run_cancel.data },
  },
  getRunOutput: {
    method: 'GET',
    path: '/runs/{run_id}/output',
    tag: 'Runs',
    summary: 'Stored output of a command as it was written, stdout and stderr in their order.',
    description:
      'A range of bytes is one of offsets, which stay the same while the run goes on. Where a cap left bytes out, the header Gantry-Missing-Bytes names them (`from-to`, to exclusive): a plain request then gives what is kept, without them, and a range ends before them.',
    events: ['get_command_output'],
    answer: { status: 200, mediaType: 'application/octet-stream', ranges: true },
  },
} as const satisfies Record<string, RestRoute>;

const messages = {
  listMessages: {
    method: 'GET',
    path: '/projects/{project_id}/messages',
    tag: 'Messages',
    events: ['get_messages'],
    query: CLIENT_EVENTS.get_messages.request.omit({ project_id: true }),
    answer: { status: 200, schema: CLIENT_EVENTS.get_messages.data },
  },
  exportMessages: {
    method: 'GET',
    path: '/projects/{project_id}/messages.jsonl',
    tag: 'Messages',
    summary: 'The whole history as JSON lines: one event a line, oldest first, nothing cut.',
    description:
      'Ends with a line of the type `export.complete`. A file without it is not whole: ask again with the seq of its last line as after_seq.',
    events: ['get_messages'],
    query: z.strictObject({
      after_seq: seq.optional().describe('Only newer events'),
      session_id: id.optional().describe('Only events of this conversation'),
    }),
    answer: { status: 200, mediaType: 'application/jsonl', schema: exportLine },
  },
} as const satisfies Record<string, RestRoute>;

const service = {
  getHealth: {
    method: 'GET',
    path: '/health',
    tag: 'Service',
    events: ['health'],
    answer: { status: 200, schema: CLIENT_EVENTS.health.data },
  },
  getOpenApi: {
    method: 'GET',
    path: '/openapi.json',
    tag: 'Service',
    summary: 'This description.',
    events: [],
    answer: { status: 200, schema: z.record(z.string(), z.unknown()) },
  },
  getDocs: {
    method: 'GET',
    path: '/docs',
    tag: 'Service',
    summary: 'This description as a page for people.',
    events: [],
    answer: { status: 200, mediaType: 'text/html' },
  },
} as const satisfies Record<string, RestRoute>;

export const REST_ROUTES = { ...projects, ...sessions, ...runs, ...messages, ...service };
export type RestRouteName = keyof typeof REST_ROUTES;

/** What the query of a route says, parsed. */
export type RestQuery<N extends RestRouteName> = N extends RestRouteName
  ? (typeof REST_ROUTES)[N] extends { query: infer Q extends z.ZodType }
    ? z.infer<Q>
    : object
  : never;
/** What the body of a route says, parsed. */
export type RestBody<N extends RestRouteName> = N extends RestRouteName
  ? (typeof REST_ROUTES)[N] extends { body: infer B extends z.ZodType }
    ? z.infer<B>
    : object
  : never;

/** A route as every other one, whatever it has. */
export const restRoute = (name: RestRouteName): RestRoute => REST_ROUTES[name];
export const REST_ROUTE_NAMES = Object.keys(REST_ROUTES) as RestRouteName[];

/** Names of the parameters in a route's path. */
export const pathParametersOf = ({ path }: Pick<RestRoute, 'path'>): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
