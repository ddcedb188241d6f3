// What can go wrong in each HTTP route, as the responses of its description.
import type { RestRoute } from './rest-routes.js';

export const RESPONSE_HEADERS = {
  'X-Correlation-Id': { description: 'Under which the logs have the request.', schema: { type: 'string' } },
  ETag: { description: 'Changes with the content.', schema: { type: 'string' } },
  Location: { description: 'Where it is.', schema: { type: 'string' } },
  'Retry-After': { description: 'Seconds after which the same request may succeed.', schema: { type: 'integer' } },
  'WWW-Authenticate': { description: 'How to sign in (RFC 6750).', schema: { type: 'string' } },
  'Accept-Ranges': { description: '`bytes`', schema: { type: 'string' } },
  'Content-Range': {
    description: '`bytes first-last/length`; the length is `*` while the run goes on.',
    schema: { type: 'string' },
  },
  'Gantry-Missing-Bytes': {
    description: 'Offsets that a cap left out: from (inclusive) - to (exclusive).',
    schema: { type: 'string' },
  },
} as const;
type Header = keyof typeof RESPONSE_HEADERS;

interface Fault {
  status: string;
  description: string;
  header?: Header;
  /** Whether a route can answer so. */
  of: (route: RestRoute) => boolean;
}

const isAuthenticated = ({ events }: RestRoute): boolean => events.length > 0;
const changes = ({ method }: RestRoute): boolean => method !== 'GET';

const FAULTS: Readonly<Record<string, Fault>> = {
  Invalid: {
    status: '400',
    description: 'A field is missing, unknown or of the wrong shape; `details.fields` names each.',
    of: () => true,
  },
  Unauthenticated: {
    status: '401',
    description: 'No token, or one that is not valid.',
    header: 'WWW-Authenticate',
    of: isAuthenticated,
  },
  Forbidden: {
    status: '403',
    description: 'The role in the project is too low, or a page of this origin may not ask.',
    of: () => true,
  },
  NotFound: {
    status: '404',
    description: 'There is no such thing, or the user has no role in its project.',
    of: ({ path }) => path.includes('{'),
  },
  Conflict: {
    status: '409',
    description: 'It cannot be done in this state, or the Idempotency-Key belongs to another payload.',
    of: changes,
  },
  Gone: { status: '410', description: 'The output has expired.', of: ({ answer }) => answer.ranges === true },
  TooLarge: { status: '413', description: 'The body is too large.', of: ({ body }) => body !== undefined },
  UnsupportedMediaType: {
    status: '415',
    description: 'The body is no uncompressed JSON.',
    of: ({ body }) => body !== undefined,
  },
  RangeNotSatisfiable: {
    status: '416',
    description: 'No stored byte lies in the range.',
    header: 'Content-Range',
    of: ({ answer }) => answer.ranges === true,
  },
  RateLimited: {
    status: '429',
    description: 'Too many requests of this user are under way.',
    header: 'Retry-After',
    of: isAuthenticated,
  },
  Failure: {
    status: 'default',
    description: 'Anything else; 503 and 504 may be tried again.',
    header: 'Retry-After',
    of: () => true,
  },
};

/** The responses that routes refer to. */
export const problemResponses = (): Record<string, object> =>
  Object.fromEntries(
    Object.entries(FAULTS).map(([name, { description, header }]) => [
      name,
      {
        description,
        headers: Object.fromEntries(
          ['X-Correlation-Id', ...(header === undefined ? [] : [header])].map((each) => [
            each,
            { $ref: `#/components/headers/${each}` },
          ]),
        ),
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  );

/** Those of one route. */
export const problemsOf = (route: RestRoute): Record<string, object> =>
  Object.fromEntries(
    Object.entries(FAULTS)
      .filter(([, fault]) => fault.of(route))
      .map(([name, { status }]) => [status, { $ref: `#/components/responses/${name}` }]),
  );
