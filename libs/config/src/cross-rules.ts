// Rules that concern more than one option. Each sees only values that are valid by themselves (CFG-3).
import { isIP } from 'node:net';
import type { Problem } from './read-options.js';

const problemUnless = (holds: boolean, option: string, problem: string): Problem[] =>
  holds ? [] : [{ option, problem }];

/** 127.0.0.0/8, ::1 and localhost: addresses that only this machine reaches. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  return bare === 'localhost' || bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'));
}

interface TlsValues {
  CERT_FILE?: string | undefined;
  KEY_FILE?: string | undefined;
  GATEWAY_HOST?: string | undefined;
  GANTRY_ALLOW_INSECURE_BIND?: boolean | undefined;
  GANTRY_PUBLIC_URL?: string | undefined;
}

export function certificateAndKeyTogether(values: TlsValues): Problem[] {
  return [
    ...problemUnless(!values.CERT_FILE || !!values.KEY_FILE, 'KEY_FILE', 'is required with CERT_FILE'),
    ...problemUnless(!values.KEY_FILE || !!values.CERT_FILE, 'CERT_FILE', 'is required with KEY_FILE'),
  ];
}

export function gatewayBeyondLoopbackIsProtected(values: TlsValues): Problem[] {
  const { GATEWAY_HOST: host, GANTRY_ALLOW_INSECURE_BIND: allowed, CERT_FILE: cert, KEY_FILE: key } = values;
  return problemUnless(
    host === undefined || isLoopback(host) || allowed === true || (!!cert && !!key),
    'GATEWAY_HOST',
    'is not loopback: set CERT_FILE and KEY_FILE, or GANTRY_ALLOW_INSECURE_BIND=1 behind a proxy of your own',
  );
}

export function publicUrlFitsTls(values: TlsValues): Problem[] {
  const { CERT_FILE: cert, GANTRY_PUBLIC_URL: url } = values;
  return problemUnless(!cert || !url || url.startsWith('https:'), 'GANTRY_PUBLIC_URL', 'must be https with CERT_FILE');
}

export function workerBeyondLoopbackIsAllowed(values: {
  WORKER_HOST?: string | undefined;
  GANTRY_ALLOW_INSECURE_BIND?: boolean | undefined;
}): Problem[] {
  const { WORKER_HOST: host, GANTRY_ALLOW_INSECURE_BIND: allowed } = values;
  return problemUnless(
    host === undefined || isLoopback(host) || allowed === true,
    'WORKER_HOST',
    'is not loopback: its health and metrics have no TLS; set GANTRY_ALLOW_INSECURE_BIND=1 in a network of your own',
  );
}

export function oneDockerSocket(values: {
  DOCKER_SOCKET?: string | undefined;
  DOCKER_HOST?: string | undefined;
}): Problem[] {
  const { DOCKER_SOCKET: socket, DOCKER_HOST: host } = values;
  return problemUnless(!socket || !host || socket === host, 'DOCKER_SOCKET', 'and DOCKER_HOST name different sockets');
}

export function oneModelCredential(values: {
  ANTHROPIC_API_KEY?: unknown;
  CLAUDE_CODE_OAUTH_TOKEN?: unknown;
}): Problem[] {
  const both = values.ANTHROPIC_API_KEY !== undefined && values.CLAUDE_CODE_OAUTH_TOKEN !== undefined;
  return problemUnless(!both, 'CLAUDE_CODE_OAUTH_TOKEN', 'and ANTHROPIC_API_KEY are both set: set one of them');
}

export function modelUrlIsPrivate(values: { GANTRY_MODEL_BASE_URL?: string | undefined }): Problem[] {
  const url = values.GANTRY_MODEL_BASE_URL;
  const isPrivate = url === undefined || url.startsWith('https:') || isLoopback(new URL(url).hostname);
  return problemUnless(
    isPrivate,
    'GANTRY_MODEL_BASE_URL',
    'must be https unless it is on loopback: it carries the key',
  );
}

export function timeoutWithinLimit(values: {
  GANTRY_RUN_TIMEOUT_MS?: number | undefined;
  GANTRY_RUN_TIMEOUT_MAX_MS?: number | undefined;
}): Problem[] {
  const { GANTRY_RUN_TIMEOUT_MS: usual = 0, GANTRY_RUN_TIMEOUT_MAX_MS: most = Infinity } = values;
  return problemUnless(usual <= most, 'GANTRY_RUN_TIMEOUT_MS', 'is longer than GANTRY_RUN_TIMEOUT_MAX_MS');
}

export function tmpFitsMemory(values: {
  SANDBOX_TMP_MB?: number | undefined;
  SANDBOX_MEMORY_MB?: number | undefined;
}): Problem[] {
  const { SANDBOX_TMP_MB: tmp = 0, SANDBOX_MEMORY_MB: memory = Infinity } = values;
  // Pages of a tmpfs cannot be reclaimed: a full one must leave room, or every process of the sandbox is killed.
  return problemUnless(tmp * 2 <= memory, 'SANDBOX_TMP_MB', 'is more than half of SANDBOX_MEMORY_MB');
}
