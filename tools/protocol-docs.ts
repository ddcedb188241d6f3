// Writes docs/protocol.md from libs/protocol: handshake, events, payloads, errors, limits. With --check it only says whether the page is current.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { z as Zod } from 'zod';
import { checkout } from './ops/checkout.ts';
import { importSource } from './ops/import-source.ts';
import { type JsonSchema, modelHeading, nameOfRef, tableOf } from './schema-table.ts';

const protocol = await importSource<typeof import('#protocol')>('protocol');
const kernel = await importSource<typeof import('#kernel')>('kernel');
/** The very instance that the protocol's schemas were made with: it knows their descriptions. */
const { z } = createRequire(import.meta.url)('zod') as { z: typeof Zod };

const { claudeOptions, commandSession, delta, errorObject, eventInfo, helloLimits, permissionInfo } = protocol;
const { projectInfo, queueLane, queueSnapshot, runError, runInfo, sessionInfo, userInfo } = protocol;

/** Shapes with a name of their own on the page; everything else is told where it is used. */
const MODELS = {
  ClaudeOptions: claudeOptions,
  CommandSession: commandSession,
  Delta: delta,
  Error: errorObject,
  Event: eventInfo,
  HelloLimits: helloLimits,
  PermissionInfo: permissionInfo,
  ProjectInfo: projectInfo,
  QueueLane: queueLane,
  QueueSnapshot: queueSnapshot,
  RunError: runError,
  RunInfo: runInfo,
  SessionInfo: sessionInfo,
  UserInfo: userInfo,
} as const;
for (const [id, model] of Object.entries(MODELS)) {
  z.globalRegistry.add(model, { ...z.globalRegistry.get(model), id });
}

const schemaOf = (schema: Zod.ZodType): JsonSchema =>
  z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input', reused: 'inline' }) as JsonSchema;
/** A named model's own fields: at the top zod gives only a reference to its definition. */
const modelOf = (schema: Zod.ZodType): JsonSchema => {
  const whole = schemaOf(schema);
  return whole.$ref === undefined ? whole : (whole.$defs?.[nameOfRef(whole.$ref)] ?? {});
};
const table = (schema: Zod.ZodType): string[] => tableOf(useOf(schema));
/** The schema as a field of something else, so that a named model becomes a link. */
const useOf = (schema: Zod.ZodType): JsonSchema => schemaOf(z.object({ used: schema })).properties?.['used'] ?? {};

const title = (text: string): string[] => ['', `## ${text}`, ''];
const code = (text: string): string => `\`${text}\``;

const introduction = [
  '# Protocol',
  '',
  'Generated from libs/protocol by `node tools/protocol-docs.ts`; do not edit.',
  '',
  'One protocol for the page, scripts and third parties, over [socket.io](https://socket.io/docs/v4/client-api/) 4 with the websocket',
  'transport only. Keys are snake_case, UUIDs lower case, times ISO-8601 in UTC with milliseconds; sizes are bytes and durations',
  'milliseconds, and the unit is in the name. Commands are parsed strictly: an unknown key is refused. Read pushes tolerantly: fields may',
  'be added. What clients can rely on is in [spec/gateway.md](spec/gateway.md).',
];

const handshake = [
  ...title('Connecting'),
  '```js',
  "const socket = io(url, { transports: ['websocket'], auth: { token, protocol: 1 } });",
  '```',
  '',
  `Versions of the protocol that are spoken: ${protocol.PROTOCOL.min} to ${protocol.PROTOCOL.max}. The fields of \`auth\`:`,
  '',
  ...tableOf(schemaOf(protocol.handshake)),
  '',
  'A refusal is a `connect_error` whose `data` is an [Error](#error-model); socket.io does not try again by itself then, so try again when it is',
  '`retryable`. A page of a foreign origin, and everybody while the gateway goes away, is refused before the upgrade: HTTP 403 or 503 with',
  'a problem document (RFC 9457), which socket.io reports as a `connect_error` without `data`. After connecting the server pushes `hello`.',
];

const answers = [
  ...title('Answers'),
  'Every event with an acknowledgement function is answered exactly once: `{ok: true, data}` or `{ok: false, error}`. With an',
  '`idempotency_key` a creating event can be sent again: the same key from the same user gives the first result.',
  '',
  'A client follows a project by `project_join`: the answer holds what was missed, and `event` pushes go on at `head_seq + 1`, each `seq`',
  'once and in order. After a reconnection, or a `server_notice` with the code `resync_required`, join again with the last `seq` as',
  "`since_seq`. A command's output is followed by `stream_subscribe` from a byte offset; at most a window beyond the last `stream_ack` is",
  'sent, then `stream_end`.',
];

const clientEvents = [
  ...title('Client to server'),
  ...Object.entries(protocol.CLIENT_EVENTS).flatMap(([name, event]) => [
    `### ${name}`,
    '',
    event.summary,
    '',
    event.role === 'user' ? 'For every user.' : `Takes the role ${code(event.role)} in the project.`,
    '',
    'Request:',
    '',
    ...tableOf(schemaOf(event.request)),
    '',
    'Data of the answer:',
    '',
    ...table(event.data),
    '',
  ]),
];

const serverEvents = [
  ...title('Server to client'),
  ...Object.entries(protocol.SERVER_EVENTS).flatMap(([name, event]) => [
    `### ${name}`,
    '',
    event.summary,
    '',
    ...table(event.payload),
    '',
  ]),
];

const models = [
  ...title('Models'),
  ...Object.entries(MODELS).flatMap(([name, model]) => [
    `### ${modelHeading(name)}`,
    '',
    ...(model.description === undefined ? [] : [model.description, '']),
    ...tableOf(modelOf(model)),
    '',
  ]),
];

const payloads: Record<string, Zod.ZodType> = protocol.EVENT_PAYLOADS;
const withoutPayload = kernel.EVENT_TYPES.filter((type) => payloads[type] === undefined);
const eventPayloads = [
  ...title('Event payloads'),
  'The `payload` of an [Event](#event-model), by its `type`.',
  '',
  ...Object.entries(payloads).flatMap(([type, payload]) => [
    `### ${type}`,
    '',
    ...(payload.description === undefined ? [] : [payload.description, '']),
    ...table(payload),
    '',
  ]),
  `Reserved for later versions: ${withoutPayload.map(code).join(', ')}.`,
];

const errorRows = Object.entries(kernel.ERROR_CODES).map(([name, kind]) => {
  const retry = kernel.ERROR_POLICY[kind].retryable ? 'yes' : 'no';
  return `| ${code(name)} | ${code(kind)} | ${retry} | ${kernel.ERROR_MEANINGS[name as keyof typeof kernel.ERROR_CODES]} |`;
});
const errors = [
  ...title('Error codes'),
  'A `code` is `area.reason` from this closed list; its `kind` says how to take it.',
  '',
  '| kind | HTTP | retryable |',
  '|---|---|---|',
  ...kernel.ERROR_KINDS.map((kind) => {
    const { http, retryable } = kernel.ERROR_POLICY[kind];
    return `| ${code(kind)} | ${http} | ${retryable ? 'yes' : 'no'} |`;
  }),
  '',
  '`retry`: whether the same request may be sent again as it is, after `retry_after_ms` if the error has one.',
  '',
  '| code | kind | retry | meaning |',
  '|---|---|---|---|',
  ...errorRows,
];

const limits = [
  ...title('Limits'),
  'Those in force for a connection are in `hello`; an operator can set the size of a frame and the timeouts.',
  '',
  '| limit | value |',
  '|---|---|',
  ...Object.entries(protocol.LIMITS).flatMap(([name, value]) =>
    typeof value === 'number'
      ? [`| ${code(name)} | ${value} |`]
      : Object.entries(value).map(([part, number]) => `| ${code(`${name}.${part}`)} | ${String(number)} |`),
  ),
];

const file = join(checkout, 'docs', 'protocol.md');
const sections = [introduction, handshake, answers, clientEvents, serverEvents, models, eventPayloads, errors, limits];
const page = `${sections
  .flat()
  .join('\n')
  .replaceAll(/\n{3,}/g, '\n\n')
  .trimEnd()}\n`;

if (!process.argv.includes('--check')) {
  writeFileSync(file, page);
} else if (!existsSync(file) || readFileSync(file, 'utf8') !== page) {
  console.error('docs/protocol.md differs from libs/protocol. Run: npm run docs');
  process.exitCode = 1;
}
