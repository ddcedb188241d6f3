// Judges answers by the description that the gateway serves: status, headers, media type, and every field of the body.
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { REST_PREFIX } from '#protocol';
import { type RestAnswer, RestClient, type RestRequest } from './rest-client.js';

interface Response {
  $ref?: string;
  headers?: Record<string, unknown>;
  content?: Record<string, { schema?: object }>;
}
interface Operation {
  operationId: string;
  responses: Record<string, Response>;
}
export interface OpenApi {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { responses: Record<string, Response>; schemas: Record<string, object> };
}

/** Headers that only some of the answers of a status carry. */
const OPTIONAL = new Set(['etag', 'gantry-missing-bytes', 'retry-after', 'content-range']);

export class RestContract {
  /** Operations and the statuses with which they answered. */
  readonly seen = new Map<string, Set<number>>();
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });

  constructor(private readonly document: OpenApi) {
    (addFormats as unknown as (ajv: Ajv2020) => void)(this.ajv);
    this.ajv.addSchema(closed(document) as object, 'document');
  }

  /** What is wrong with an answer; empty when it is as described. */
  problemsOf(method: string, path: string, answer: RestAnswer): string[] {
    const found = this.find(method, path);
    if (found === undefined)
      return this.bodyProblems('#/components/responses/Failure', answer, 'application/problem+json');
    const { pointer, operation } = found;
    const seen = this.seen.get(operation.operationId) ?? new Set();
    this.seen.set(operation.operationId, seen.add(answer.status));
    const status = operation.responses[answer.status] === undefined ? 'default' : String(answer.status);
    if (status === 'default' && answer.status < 500)
      return [`${operation.operationId} does not describe ${answer.status}`];
    const response = operation.responses[status];
    const at = response?.$ref ?? `${pointer}/responses/${status}`;
    return this.bodyProblems(at, answer, undefined).map(
      (problem) => `${operation.operationId} ${answer.status}: ${problem}`,
    );
  }

  private bodyProblems(pointer: string, { headers, body }: RestAnswer, only: string | undefined): string[] {
    const response = resolve(this.document, pointer) as Response;
    const missing = Object.keys(response.headers ?? {})
      .map((name) => name.toLowerCase())
      .filter((name) => !OPTIONAL.has(name) && headers.get(name) === null)
      .map((name) => `lacks the header ${name}`);
    const type = (headers.get('content-type') ?? '').split(';')[0] ?? '';
    const contents = Object.keys(response.content ?? {});
    if (contents.length === 0) return body === '' ? missing : [...missing, 'has a body'];
    if (!contents.includes(only ?? type)) return [...missing, `is ${type}`];
    if (response.content?.[type]?.schema === undefined) return missing;
    const schema = `${pointer}/content/${escaped(type)}/schema`;
    const values = type === 'application/jsonl' ? linesOf(body as string) : [body];
    return [...missing, ...values.flatMap((value) => this.validate(schema, value))];
  }

  private validate(pointer: string, value: unknown): string[] {
    const check = this.ajv.compile({ $ref: `document${pointer}` });
    if (check(value)) return [];
    return (check.errors ?? []).map(
      (error) => `${error.instancePath} ${error.message ?? ''} ${JSON.stringify(error.params)}`,
    );
  }

  private find(method: string, address: string): { pointer: string; operation: Operation } | undefined {
    const path = address.split('?')[0] ?? '';
    const template = Object.keys(this.document.paths).find((each) =>
      new RegExp(`^${each.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}/?$`).test(path),
    );
    const verb = (method === 'HEAD' ? 'GET' : method).toLowerCase();
    const operation = template === undefined ? undefined : this.document.paths[template]?.[verb];
    if (template === undefined || operation === undefined) return undefined;
    return { pointer: `#/paths/${escaped(template)}/${verb}`, operation };
  }
}

/** A client that refuses answers that are not as described. */
export class ContractClient extends RestClient {
  constructor(
    gateway: { url: string },
    readonly contract: RestContract,
    token?: string | null,
  ) {
    super(gateway, token);
  }

  override async ask(method: string, path: string, request: RestRequest = {}): Promise<RestAnswer> {
    const answer = await super.ask(method, path, request);
    // A HEAD has the headers of its GET and nothing to look at.
    const problems = method === 'HEAD' ? [] : this.contract.problemsOf(method, path, answer);
    if (problems.length > 0) throw new Error(`${method} ${REST_PREFIX}${path}: ${problems.join('; ')}`);
    return answer;
  }
}

const linesOf = (text: string): unknown[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);

/** For a JSON pointer within a URI fragment (RFC 6901). */
const escaped = (part: string): string => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));

function resolve(document: object, pointer: string): unknown {
  return pointer
    .slice(2)
    .split('/')
    .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], document);
}

/** The same schemas with objects closed: clients read tolerantly, but a field that is not described is a mistake of ours. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, closed(inner)]));
  const isObject = copy['type'] === 'object' && copy['properties'] !== undefined;
  return isObject && copy['additionalProperties'] === undefined ? { ...copy, additionalProperties: false } : copy;
}
