// Control frames from a client to sandboxd. Every request has a number `n` that its answer repeats; `credit` and `detach` have none.
import type { KillScope, ProcessSignal } from '#domain';
import {
  list,
  map,
  natural,
  nullable,
  object,
  oneOf,
  optional,
  type Parser,
  parseJson,
  processId,
  string,
} from './control-values.js';
import { FRAME, encodeFrame } from './frame.js';
import { WireError } from './wire-error.js';

/** The wire versions that this code speaks. A worker speaks N and N-1 (R18). */
export const WIRE_VERSIONS = { min: 1, max: 1 } as const;

export const KILL_SCOPES = ['group', 'session', 'tree'] as const satisfies readonly KillScope[];
export const PROCESS_SIGNALS = [
  'SIGINT',
  'SIGTERM',
  'SIGKILL',
  'SIGSTOP',
  'SIGCONT',
  'SIGHUP',
] as const satisfies readonly ProcessSignal[];

const parsers = {
  /** First frame of a connection. Without a host epoch it is a probe, which may only read. */
  hello: object({ wire: object({ min: natural, max: natural }), hostEpoch: nullable(natural) }),
  start: object({
    processId,
    argv: list(string),
    cwd: string,
    env: map(string),
    stdin: oneOf('pipe', 'null'),
    epoch: natural,
  }),
  info: object({ processId }),
  /** Processes in order of their ids, those above `after`. */
  list: object({ after: nullable(string) }),
  /** DATA frames follow with this `stream` number, at most up to the absolute offset `creditUpTo`. */
  attach: object({ processId, stream: natural, fromOffset: natural, creditUpTo: natural, epoch: natural }),
  closeInput: object({ processId, epoch: natural }),
  signal: object({
    processId,
    signal: oneOf(...PROCESS_SIGNALS),
    scope: oneOf(...KILL_SCOPES),
    epoch: natural,
  }),
  acknowledge: object({ processId, offset: natural, epoch: natural }),
  forget: object({ processId, epoch: natural }),
  memory: object({}),
};
const noticeParsers = {
  /** `frames`: how many DATA frames were read since the last credit; so many more may be under way. */
  credit: object({ stream: natural, creditUpTo: natural, frames: natural }),
  detach: object({ stream: natural }),
};

type Bodies = typeof parsers;
type NoticeBodies = typeof noticeParsers;
export type RequestOp = keyof Bodies;
export type RequestBody<Op extends RequestOp> = ReturnType<Bodies[Op]>;
export type Request = { [Op in RequestOp]: { n: number; op: Op; body: RequestBody<Op> } }[RequestOp];
export type Notice = {
  [Op in keyof NoticeBodies]: { n: null; op: Op; body: ReturnType<NoticeBodies[Op]> };
}[keyof NoticeBodies];

const opOf: Parser<{ op: string; n: number | undefined }> = object({ op: string, n: optional(natural) });

export function encodeRequest<Op extends RequestOp>(n: number, op: Op, body: RequestBody<Op>): Buffer {
  return encodeFrame(FRAME.control, Buffer.from(JSON.stringify({ ...body, n, op })));
}

export function encodeNotice<Op extends keyof NoticeBodies>(op: Op, body: ReturnType<NoticeBodies[Op]>): Buffer {
  return encodeFrame(FRAME.control, Buffer.from(JSON.stringify({ ...body, op })));
}

/** A request that cannot be read at all breaks the wire; nothing in it can be trusted to address an answer. */
export function parseRequest(payload: Buffer): Request | Notice {
  const message = parseJson(payload);
  const { op, n } = opOf(message, 'request');
  if (Object.hasOwn(noticeParsers, op)) {
    const known = op as keyof NoticeBodies;
    return { n: null, op: known, body: noticeParsers[known](message, op) } as Notice;
  }
  if (!Object.hasOwn(parsers, op)) throw new WireError('a request has an unknown name');
  if (n === undefined) throw new WireError('a request has no number');
  const known = op as RequestOp;
  return { n, op: known, body: parsers[known](message, op) } as Request;
}

/** The version both ends speak, or null. */
export function commonWireVersion(
  theirs: { min: number; max: number },
  ours: { min: number; max: number } = WIRE_VERSIONS,
): number | null {
  const version = Math.min(theirs.max, ours.max);
  return version >= Math.max(theirs.min, ours.min) ? version : null;
}
