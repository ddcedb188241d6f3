// Control frames from sandboxd to a client: answers to requests, and what happens by itself (an output's end, a farewell).
import { ERROR_CODES, AppError, type ErrorCode } from '#kernel';
import type { ProcessExit, ProcessInfo } from '#domain';
import {
  boolean,
  integer,
  list,
  natural,
  nullable,
  object,
  oneOf,
  optional,
  type Parsed,
  type Parser,
  parseJson,
  processId,
  string,
} from './control-values.js';
import { FRAME, encodeFrame } from './frame.js';
import { WireError } from './wire-error.js';
import type { RequestOp } from './requests.js';

const lost: Parser<true | undefined> = (value, at) => {
  if (value === undefined || value === true) return value;
  throw new WireError(`${at} is not true`);
};

const exit: Parser<ProcessExit> = object({
  code: nullable(integer),
  signal: nullable(string),
  outOfMemory: boolean,
  spawnError: optional(string),
  spawnErrorAt: optional(oneOf('cwd', 'program')),
  lost,
});

const processShape = {
  processId,
  pid: nullable(natural),
  state: oneOf('running', 'exited'),
  exit: nullable(exit),
  headOffset: natural,
  tailOffset: natural,
  inputKeys: list(string),
  epoch: natural,
  startedAtMs: natural,
  exitedAtMs: nullable(natural),
  descendants: optional(natural),
  bootId: optional(string),
};
const processInfo: Parser<ProcessInfo> = object(processShape);
const empty: Parser<Record<string, never>> = object({});

const results = {
  hello: object({ wire: natural, bootId: string, hostEpoch: natural }),
  start: object({ ...processShape, existed: boolean }),
  info: processInfo,
  list: object({ processes: list(processInfo), more: boolean }),
  attach: object({ headOffset: natural }),
  closeInput: empty,
  signal: object({ delivered: natural }),
  acknowledge: empty,
  forget: empty,
  memory: object({ oomKills: natural, usedBytes: natural }),
  /** Answer to an INPUT frame. */
  input: object({ duplicate: boolean }),
};
export type AnsweredOp = RequestOp | 'input';
export type Result<Op extends AnsweredOp> = Parsed<(typeof results)[Op]>;

export type ByeCode = 'sandbox.epoch_stale' | 'sandbox.connection_lost' | 'sandbox.protocol';
const byeCode = oneOf('sandbox.epoch_stale', 'sandbox.connection_lost', 'sandbox.protocol');

const errorShape = object({ code: string, message: string, details: optional((value) => value) });

export type Reply =
  | { kind: 'result'; re: number; result: unknown }
  | { kind: 'error'; re: number; error: AppError }
  /** Every byte of an attached process was sent and it has ended. */
  | { kind: 'end'; stream: number; exit: ProcessExit }
  /** An attachment is over although the process may go on. */
  | { kind: 'detached'; stream: number; error: AppError }
  /** The connection is over. */
  | { kind: 'bye'; code: ByeCode };

const encode = (message: object): Buffer => encodeFrame(FRAME.control, Buffer.from(JSON.stringify(message)));
const plainError = (error: AppError): object => ({ code: error.code, message: error.message, details: error.details });

export const encodeResult = (re: number, result: Result<AnsweredOp>): Buffer => encode({ re, result });
export const encodeError = (re: number, error: AppError): Buffer => encode({ re, error: plainError(error) });
export const encodeEnd = (stream: number, ended: ProcessExit): Buffer => encode({ ev: 'end', stream, exit: ended });
export const encodeDetached = (stream: number, error: AppError): Buffer =>
  encode({ ev: 'detached', stream, error: plainError(error) });
export const encodeBye = (code: ByeCode): Buffer => encode({ ev: 'bye', code });

export function parseReply(payload: Buffer): Reply {
  const message = parseJson(payload);
  if ('re' in message) {
    const re = natural(message['re'], 're');
    if ('error' in message) return { kind: 'error', re, error: toError(message['error']) };
    return { kind: 'result', re, result: message['result'] };
  }
  switch (oneOf('end', 'detached', 'bye')(message['ev'], 'ev')) {
    case 'end':
      return { kind: 'end', stream: natural(message['stream'], 'stream'), exit: exit(message['exit'], 'exit') };
    case 'detached':
      return { kind: 'detached', stream: natural(message['stream'], 'stream'), error: toError(message['error']) };
    case 'bye':
      return { kind: 'bye', code: byeCode(message['code'], 'code') };
  }
}

/** The part of a reply that only the request it answers can give a shape to. */
export function parseResult<Op extends AnsweredOp>(op: Op, result: unknown): Result<Op> {
  return results[op](result, op) as Result<Op>;
}

function toError(value: unknown): AppError {
  const { code, message, details } = errorShape(value, 'error');
  if (!isErrorCode(code)) return new WireError('an error has an unknown code');
  const facts = typeof details === 'object' && details !== null ? { details: { ...details } } : {};
  return new AppError(code, message, facts);
}

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERROR_CODES, code);
