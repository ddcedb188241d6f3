// The description of the HTTP routes in OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.1), made from the table of routes and their schemas.
import { z } from 'zod';
import { claudeOptions } from './claude-options.schema.js';
import { CLIENT_EVENTS } from './client-events.js';
import { eventInfo, projectInfo, runError, runInfo, sessionInfo } from './models.schema.js';
import { id, idempotencyKey } from './primitives.schema.js';
import { problemResponses, problemsOf, RESPONSE_HEADERS } from './rest-openapi-problems.js';
import { problem } from './rest-problem.schema.js';
import {
  exportEnd,
  pathParametersOf,
  REST_PREFIX,
  REST_ROUTE_NAMES,
  type RestRoute,
  type RestRouteName,
  restRoute,
} from './rest-routes.js';

export type OpenApiObject = Record<string, unknown>;

/** Shapes with a name of their own in the document; everything else is told where it is used. */
const MODELS = {
  ClaudeOptions: claudeOptions,
  Event: eventInfo,
  ExportEnd: exportEnd,
  Problem: problem,
  ProjectInfo: projectInfo,
  RunError: runError,
  RunInfo: runInfo,
  SessionInfo: sessionInfo,
};

const TAGS = [
  { name: 'Projects', description: 'Folders that agents and commands work in.' },
  { name: 'Sessions', description: 'Conversations with an agent.' },
  { name: 'Runs', description: 'Prompts and commands: queued, at work, over.' },
  { name: 'Messages', description: 'The durable history of a project.' },
  { name: 'Service', description: 'The service itself.' },
];

const INTRODUCTION =
  'For scripts: the same use-cases, roles and error codes as the socket.io protocol (docs/protocol.md), which is the way to follow a project live. Sign in with `Authorization: Bearer <token>`; a token in an address is refused. Bodies and queries are parsed strictly: an unknown key is refused. Read answers tolerantly: fields may be added.';

interface JsonSchema extends OpenApiObject {
  properties?: Record<string, OpenApiObject>;
  required?: string[];
}

/** Schemas as JSON Schema 2020-12, which is what OpenAPI 3.1 takes, with the named ones referred to. */
class Schemas {
  readonly named: Record<string, OpenApiObject> = {};

  constructor() {
    for (const [name, model] of Object.entries(MODELS)) {
      z.globalRegistry.add(model, { ...z.globalRegistry.get(model), id: name });
    }
    for (const model of Object.values(MODELS)) this.of(model);
  }

  of(schema: z.ZodType): JsonSchema {
    const {
      $schema: _,
      $defs = {},
      ...rest
    } = z.toJSONSchema(schema, {
      unrepresentable: 'any',
      io: 'input',
      override: ({ jsonSchema }) => dropSafeBounds(jsonSchema),
    });
    for (const [name, definition] of Object.entries($defs)) this.named[name] ??= referring(definition);
    return referring(rest);
  }
}

/** zod bounds every integer by what JSON carries exactly, which says nothing. */
function dropSafeBounds(schema: { minimum?: number; maximum?: number }): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}

const referring = (schema: OpenApiObject): OpenApiObject =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as OpenApiObject;

/** The whole document. `version` is that of the program. */
export function openApiDocument(version: string): OpenApiObject {
  const schemas = new Schemas();
  const paths: Record<string, OpenApiObject> = {};
  for (const name of REST_ROUTE_NAMES) {
    const route = restRoute(name);
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: operationOf(name, route, schemas),
    };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Gantry',
      version,
      description: INTRODUCTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: REST_PREFIX, description: 'This gateway' }],
    security: [{ token: [] }],
    tags: TAGS,
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'A sign-in token.' } },
      headers: RESPONSE_HEADERS,
      responses: problemResponses(),
      schemas: Object.fromEntries(Object.entries(schemas.named).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

function operationOf(name: RestRouteName, route: RestRoute, schemas: Schemas): OpenApiObject {
  const [event] = route.events;
  const parameters = [
    ...pathParametersOf(route).map((parameter) => pathParameter(parameter, schemas)),
    ...(route.query === undefined ? [] : queryParameters(schemas.of(route.query))),
    ...(route.idempotent === true ? [headerParameter('Idempotency-Key', schemas.of(idempotencyKey))] : []),
    ...(route.answer.ranges === true ? [headerParameter('Range', RANGE)] : []),
  ];
  return {
    operationId: name,
    tags: [route.tag],
    summary: route.summary ?? (event === undefined ? name : CLIENT_EVENTS[event].summary),
    description: [route.description, roleOf(route)].filter((text) => text !== undefined).join('\n\n'),
    ...(route.events.length === 0 ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: schemas.of(route.body) } } } }),
    responses: responsesOf(route, schemas),
  };
}

/** Roles are ordered, and the events of one route take the same one or none. */
function roleOf({ events }: RestRoute): string {
  if (events.length === 0) return 'For everybody.';
  const role = events.map((event) => CLIENT_EVENTS[event].role).find((each) => each !== 'user');
  return role === undefined ? 'For every user.' : `Takes the role \`${role}\` in the project.`;
}

const RANGE = {
  type: 'string',
  pattern: '^bytes=',
  description: 'One range: `bytes=first-last`, `bytes=first-`, `bytes=-last`',
};

const pathParameter = (name: string, schemas: Schemas): OpenApiObject => ({
  name,
  in: 'path',
  required: true,
  schema: schemas.of(id),
});

function queryParameters({ properties = {}, required = [] }: JsonSchema): OpenApiObject[] {
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    ...(required.includes(name) ? { required: true } : {}),
    ...(description === undefined ? {} : { description }),
    schema,
  }));
}

const headerParameter = (name: string, { description, ...schema }: OpenApiObject): OpenApiObject => ({
  name,
  in: 'header',
  description,
  schema,
});

function responsesOf(route: RestRoute, schemas: Schemas): OpenApiObject {
  const { status, ranges } = route.answer;
  const content = contentOf(route, schemas);
  const success = (description: string, names: (keyof typeof RESPONSE_HEADERS)[]): OpenApiObject => ({
    description,
    headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    ...(content === undefined ? {} : { content }),
  });
  const cached = route.method === 'GET' && route.answer.mediaType === undefined;
  return {
    [status]: success(DESCRIPTIONS[status], [
      'X-Correlation-Id',
      ...(cached || ranges === true ? (['ETag'] as const) : []),
      ...(ranges === true ? (['Accept-Ranges', 'Gantry-Missing-Bytes'] as const) : []),
      ...(route.answer.location === true ? (['Location'] as const) : []),
    ]),
    ...(ranges === true ? { 206: success('The range.', ['X-Correlation-Id', 'Content-Range', 'ETag']) } : {}),
    ...(cached ? { 304: { description: 'Nothing has changed since the ETag of If-None-Match.' } } : {}),
    ...problemsOf(route),
  };
}

/** Of JSON lines the schema is that of each line; OpenAPI 3.1 has no other way to say it. */
function contentOf({ answer: { schema, mediaType } }: RestRoute, schemas: Schemas): OpenApiObject | undefined {
  if (schema !== undefined) return { [mediaType ?? 'application/json']: { schema: schemas.of(schema) } };
  if (mediaType === undefined) return undefined;
  return { [mediaType]: mediaType.startsWith('text/') ? { schema: { type: 'string' } } : {} };
}

const DESCRIPTIONS = { 200: 'Done.', 201: 'Made, or made before under the same key.', 204: 'Done.' } as const;
