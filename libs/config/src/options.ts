// The catalogue: every option of Gantry, once. Parsing, documentation and what each process is given are derived from it.
import { optional, required, withDefault } from './option.js';
import { RUNS } from './run-options.js';
import {
  absolutePath,
  decimal,
  flag,
  httpUrl,
  integer,
  listenHost,
  oneOf,
  originList,
  pathList,
  secretText,
  secretUrl,
  socketPath,
  unixSocketUrl,
  word,
} from './values.schema.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const STORAGE = {
  DATABASE_URL: required({
    description: 'Postgres, which holds all durable state. `make up` starts one of its own when this is not set.',
    readBy: ['gateway', 'worker', 'broker', 'make'],
    schema: secretUrl(['postgresql:', 'postgres:']),
    secret: true,
  }),
  REDIS_URL: required({
    description:
      'Redis, which wakes and carries; it must not evict keys. `make up` starts one of its own when this is not set.',
    readBy: ['gateway', 'worker', 'make'],
    schema: secretUrl(['redis:', 'rediss:']),
    secret: true,
  }),
  GANTRY_DATA_DIR: optional('/var/lib/gantry; `make up`: the folder data of the checkout', {
    description: 'Where Gantry keeps what is not in Postgres: tools, sandbox run folders, secrets, logs.',
    readBy: ['gateway', 'worker', 'broker', 'make'],
    schema: absolutePath(),
  }),
  GANTRY_PROJECT_ROOTS: optional('the folder projects in the data folder', {
    description: 'Folders beneath which projects may be created, separated by colons.',
    readBy: ['worker', 'make'],
    schema: pathList(),
  }),
} as const;

const EDGE = {
  GATEWAY_HOST: withDefault('127.0.0.1', {
    description: 'Address on which the gateway listens. Any but loopback needs TLS or GANTRY_ALLOW_INSECURE_BIND.',
    readBy: ['gateway', 'make'],
    schema: listenHost(),
  }),
  GATEWAY_PORT: withDefault(7420, {
    description:
      'Port of the gateway; 0 takes any free one. `make up` takes the next free one when it is in use and not set.',
    readBy: ['gateway', 'make'],
    schema: integer(0, 65_535),
  }),
  GATEWAY_WEB_DIR: optional('no page is served; `make up`: the built client', {
    description: "Folder of the built web client's files.",
    readBy: ['gateway'],
    schema: absolutePath(),
  }),
  GANTRY_ALLOWED_ORIGINS: optional("the gateway's own origin only", {
    description: 'Origins (scheme, host and port, separated by commas) from which browsers may connect.',
    readBy: ['gateway', 'make'],
    schema: originList(),
  }),
  GANTRY_PUBLIC_URL: optional('made of GATEWAY_HOST and GATEWAY_PORT', {
    description:
      'URL under which people reach the gateway, e.g. that of a reverse proxy. Its origin is always allowed.',
    readBy: ['gateway', 'make'],
    schema: httpUrl(),
  }),
  CERT_FILE: optional('no TLS', {
    description: "The gateway's TLS certificate chain, PEM.",
    readBy: ['gateway', 'make'],
    schema: absolutePath(),
  }),
  KEY_FILE: optional('no TLS', {
    description: 'The key of CERT_FILE, PEM.',
    readBy: ['gateway', 'make'],
    schema: absolutePath(),
  }),
  GANTRY_ALLOW_INSECURE_BIND: withDefault(false, {
    description: 'Lets a service listen without TLS beyond loopback: only behind a proxy or in a network of your own.',
    readBy: ['gateway', 'worker', 'make'],
    schema: flag(),
  }),
  GANTRY_BOOTSTRAP_TOKEN_FILE: optional('no sign-in token is made; `make up` makes one', {
    description: "File with the first administrator's sign-in token.",
    readBy: ['gateway'],
    schema: absolutePath(),
  }),
  GANTRY_MAX_MESSAGE_BYTES: withDefault(1_048_576, {
    description: 'Largest message that a client may send.',
    readBy: ['gateway'],
    schema: integer(1_024, 64 * 1_048_576),
    unit: 'bytes',
  }),
  GANTRY_IDEMPOTENCY_TTL_MS: withDefault(DAY_MS, {
    description: 'How long the answer to an idempotency_key is kept.',
    readBy: ['gateway', 'worker'],
    schema: integer(MINUTE_MS, 30 * DAY_MS),
    unit: 'ms',
  }),
} as const;

const EXECUTION = {
  WORKER_HOST: withDefault('127.0.0.1', {
    description:
      "Address of the worker's health and metrics. Any but loopback needs GANTRY_ALLOW_INSECURE_BIND: it has no TLS.",
    readBy: ['worker', 'make'],
    schema: listenHost(),
  }),
  WORKER_PORT: withDefault(7421, {
    description:
      "Port of the worker's health and metrics; 0 takes any free one. `make up` takes the next free one when it is in use and not set.",
    readBy: ['worker', 'make'],
    schema: integer(0, 65_535),
  }),
  DOCKER_SOCKET: optional('DOCKER_HOST, or /var/run/docker.sock', {
    description: 'Unix socket of the Docker engine.',
    readBy: ['worker', 'make'],
    schema: socketPath(),
  }),
  DOCKER_HOST: optional('DOCKER_SOCKET is used', {
    description: "The same in Docker's own notation, `unix:///path`. Set one of the two.",
    readBy: ['worker', 'make'],
    schema: unixSocketUrl(),
  }),
  SANDBOX_IMAGE: required({
    description: 'Image of the sandboxes of projects that name none. `make up` builds it when this is not set.',
    readBy: ['worker', 'make'],
    schema: word(),
  }),
  SANDBOX_NODE_FILE: required({
    description: 'The node program that is mounted into sandboxes. `make up` provides it.',
    readBy: ['worker'],
    schema: absolutePath(),
  }),
  SANDBOX_CLAUDE_FILE: required({
    description: 'The claude program that is mounted into sandboxes. `make up` provides it.',
    readBy: ['worker'],
    schema: absolutePath(),
  }),
  SANDBOX_SANDBOXD_FILE: required({
    description: 'The bundled sandboxd that is mounted into sandboxes. `make up` provides it.',
    readBy: ['worker'],
    schema: absolutePath(),
  }),
  SANDBOX_MEMORY_MB: withDefault(2_048, {
    description: 'Memory of one sandbox; no swap on top.',
    readBy: ['worker'],
    schema: integer(256, 1_048_576),
    unit: 'MiB',
  }),
  SANDBOX_CPUS: withDefault(2, {
    description: 'Processors of one sandbox; fractions allowed. More than the machine has means all of them.',
    readBy: ['worker'],
    schema: decimal(0.1, 1_024),
    unit: 'CPUs',
  }),
  SANDBOX_PIDS: withDefault(512, {
    description: 'Most processes and threads in one sandbox.',
    readBy: ['worker'],
    schema: integer(64, 4_194_304),
  }),
  SANDBOX_TMP_MB: withDefault(512, {
    description: "Size of a sandbox's /tmp. It is memory: at most half of SANDBOX_MEMORY_MB.",
    readBy: ['worker'],
    schema: integer(16, 524_288),
    unit: 'MiB',
  }),
  SANDBOX_SPOOL_MB: withDefault(64, {
    description: 'Output of one process kept on disk before its pipe is no longer read.',
    readBy: ['worker'],
    // A line of an agent may take 16 MiB.
    schema: integer(32, 65_536),
    unit: 'MiB',
  }),
} as const;

const RETENTION = {
  GANTRY_MAX_RUN_OUTPUT_BYTES: withDefault(64 * 1_048_576, {
    description:
      'Output of one command that is kept: its first and its last half. Projects may set their own (max_output_bytes).',
    readBy: ['worker'],
    schema: integer(1_024, 64 * 1_024 * 1_048_576),
    unit: 'bytes',
  }),
  GANTRY_MAX_PROJECT_OUTPUT_BYTES: withDefault(2_048 * 1_048_576, {
    description: "Output of one project's commands that is kept. Above it that of the oldest finished ones goes first.",
    readBy: ['worker'],
    schema: integer(65_536, 1_048_576 * 1_048_576),
    unit: 'bytes',
  }),
  GANTRY_OUTPUT_RETENTION_DAYS: withDefault(7, {
    description:
      'Days for which the output of finished commands is kept; 0 keeps it for ever. Projects may set their own (output_retention_days).',
    readBy: ['worker'],
    schema: integer(0, 36_500),
    unit: 'days',
  }),
  GANTRY_RETENTION_SWEEP_MS: withDefault(MINUTE_MS, {
    description: 'Time between two looks for output and records that are due to be deleted.',
    readBy: ['worker'],
    schema: integer(100, DAY_MS),
    unit: 'ms',
  }),
  GANTRY_DISK_WARN_FREE_PERCENT: withDefault(10, {
    description: 'Free space of a disk below which health is degraded and clients are told; 0 never warns.',
    readBy: ['gateway'],
    schema: integer(0, 99),
    unit: '%',
  }),
  GANTRY_HOST_GRACE_MS: withDefault(2 * MINUTE_MS, {
    description: 'How long a host may be without a worker before its active runs are given up as sandbox.lost.',
    readBy: ['gateway'],
    schema: integer(1_000, 7 * DAY_MS),
    unit: 'ms',
  }),
} as const;

const MODEL = {
  BROKER_SOCKET: optional('broker/broker.sock in the data folder', {
    description: 'Unix socket of the broker. Its folder is mounted into every sandbox, so nothing else may lie in it.',
    readBy: ['worker', 'broker'],
    schema: socketPath(),
  }),
  GANTRY_DEMO_MODEL: withDefault(false, {
    description:
      'Answers come from the demo model, and clients are told so. `make up` sets it when no key was ever given; give 1 to leave a key for it.',
    readBy: ['gateway', 'make'],
    schema: flag(),
  }),
  ANTHROPIC_API_KEY: optional('with no CLAUDE_CODE_OAUTH_TOKEN either, `make up` starts the demo model', {
    description: "Key for the model's API. Only the broker is given it.",
    readBy: ['broker', 'make'],
    schema: secretText(),
    secret: true,
  }),
  CLAUDE_CODE_OAUTH_TOKEN: optional('ANTHROPIC_API_KEY is used', {
    description: "OAuth token for the model's API. Only the broker is given it. Set one of the two.",
    readBy: ['broker', 'make'],
    schema: secretText(),
    secret: true,
  }),
  GANTRY_MODEL_BASE_URL: withDefault('https://api.anthropic.com', {
    description: "Base URL of the model's API; https, or http on loopback.",
    readBy: ['broker', 'make'],
    schema: httpUrl(),
  }),
  HTTPS_PROXY: optional('no proxy', {
    description: "Proxy for the way to the model's API, and for what `make up` downloads.",
    readBy: ['broker', 'make'],
    schema: secretUrl(['http:', 'https:']),
    secret: true,
  }),
  NODE_EXTRA_CA_CERTS: optional("Node's own list only", {
    description: 'File with further certificate authorities to trust, PEM; read by Node itself at start.',
    readBy: ['gateway', 'worker', 'broker', 'make'],
    schema: absolutePath(),
  }),
  LOG_LEVEL: withDefault('info', {
    description: `Least severe level that is logged: ${LOG_LEVELS.join(', ')}.`,
    readBy: ['gateway', 'worker', 'broker'],
    schema: oneOf(LOG_LEVELS),
  }),
} as const;

const INSTALLATION = {
  GANTRY_LOG_MAX_MB: withDefault(10, {
    description:
      "Size at which a service's log file moves on to an older one; one that grows fast may reach twice that.",
    readBy: ['make'],
    schema: integer(1, 10_240),
    unit: 'MiB',
  }),
  GANTRY_LOG_FILES: withDefault(5, {
    description: 'Log files kept of each service, the present one among them.',
    readBy: ['make'],
    schema: integer(2, 100),
  }),
  GANTRY_CACHE_DIR: optional('gantry in XDG_CACHE_HOME or ~/.cache', {
    description: 'Where what was downloaded and built is kept between checkouts: base image, sandbox image, tools.',
    readBy: ['make'],
    schema: absolutePath(),
  }),
  GANTRY_SANDBOX_BASE: optional('debian:bookworm-slim from a registry, else a base made with mmdebstrap', {
    description: 'Image on which the sandbox image is built; Debian with glibc.',
    readBy: ['make'],
    schema: word(),
  }),
  GANTRY_ENGINE_DIR: optional('/var/lib/gantry/engine', {
    description:
      'Where a Docker engine that `make up` starts keeps images and containers. All checkouts on a machine share it.',
    readBy: ['make'],
    schema: absolutePath(),
  }),
  GANTRY_POSTGRES_DIR: optional(
    'the folder postgres in the data folder, or one in /var/lib/gantry if that cannot serve',
    {
      description: "Where `make up`'s own Postgres keeps its data.",
      readBy: ['make'],
      schema: absolutePath(),
    },
  ),
} as const;

/** The sections of docs/configuration.md, in its order. */
export const OPTION_SECTIONS = [
  { title: 'Storage', options: STORAGE },
  { title: 'Gateway', options: EDGE },
  { title: 'Worker and sandboxes', options: EXECUTION },
  { title: 'Runs', options: RUNS },
  { title: 'Retention and limits', options: RETENTION },
  { title: 'Model, broker and logs', options: MODEL },
  { title: 'Installation', options: INSTALLATION },
] as const;

export const OPTIONS = { ...STORAGE, ...EDGE, ...EXECUTION, ...RUNS, ...RETENTION, ...MODEL, ...INSTALLATION } as const;
export type OptionName = keyof typeof OPTIONS;
