// Control frames: round trips, tolerance for what a newer end adds, and a typed error for everything else.
import fc from 'fast-check';
import { AppError } from '#kernel';
import { FRAME, FrameDecoder } from './frame.js';
import { encodeDetached, encodeEnd, encodeError, encodeResult, parseReply, parseResult } from './replies.js';
import { commonWireVersion, encodeNotice, encodeRequest, parseRequest } from './requests.js';
import { WireError } from './wire-error.js';

const payloadOf = (frame: Buffer): Buffer => new FrameDecoder([FRAME.control]).push(frame)[0]!.payload;
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

describe('requests', () => {
  it('SBX-1 arrive as they were sent', () => {
    const body = {
      processId: 'p1',
      argv: ['sh', '-c', 'echo "ü\n"'],
      cwd: '/workspace',
      env: { A: 'b', __proto__x: '' },
      stdin: 'pipe' as const,
      epoch: 3,
    };
    expect(parseRequest(payloadOf(encodeRequest(7, 'start', body)))).toEqual({ n: 7, op: 'start', body });
    expect(parseRequest(payloadOf(encodeNotice('credit', { stream: 1, creditUpTo: 9, frames: 3 })))).toEqual({
      n: null,
      op: 'credit',
      body: { stream: 1, creditUpTo: 9, frames: 3 },
    });
  });

  it('SBX-3 ignore what a newer client adds', () => {
    expect(parseRequest(json({ n: 1, op: 'info', processId: 'p', added: { later: true } }))).toEqual({
      n: 1,
      op: 'info',
      body: { processId: 'p' },
    });
  });

  it.each([
    ['no JSON', Buffer.from('{')],
    ['no object', json([1])],
    ['no op', json({ n: 1 })],
    ['an unknown op', json({ n: 1, op: 'toString' })],
    ['an inherited op', json({ n: 1, op: 'constructor' })],
    ['no number', json({ op: 'info', processId: 'p' })],
    ['a path as id', json({ n: 1, op: 'info', processId: '../etc' })],
    ['a negative epoch', json({ n: 1, op: 'closeInput', processId: 'p', epoch: -1 })],
    ['an epoch that is no number', json({ n: 1, op: 'closeInput', processId: 'p', epoch: '1' })],
    ['an unknown signal', json({ n: 1, op: 'signal', processId: 'p', epoch: 1, signal: 'SIGUSR1', scope: 'tree' })],
  ])('SBX-2 with %s are a WireError', (_what, payload) => {
    expect(() => parseRequest(payload)).toThrow(WireError);
  });

  it('SBX-2 of any JSON are a request or a WireError', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('start', 'hello', 'attach', 'credit', 'signal'), (value, op) => {
        for (const payload of [json(value ?? null), json({ ...Object(value), n: 1, op })]) {
          try {
            parseRequest(payload);
          } catch (error) {
            expect(error).toBeInstanceOf(WireError);
          }
        }
      }),
    );
  });
});

describe('replies', () => {
  const exit = { code: null, signal: 'SIGKILL', outOfMemory: true };

  it('SBX-1 arrive as they were sent', () => {
    const reply = parseReply(payloadOf(encodeResult(4, { delivered: 2 })));
    expect(reply).toEqual({ kind: 'result', re: 4, result: { delivered: 2 } });
    expect(parseReply(payloadOf(encodeEnd(2, exit)))).toMatchObject({ kind: 'end', stream: 2, exit });
  });

  it('SBX-1 carry typed errors', () => {
    const stale = new AppError('sandbox.epoch_stale', 'Old.', { details: { epoch: 1 } });
    const reply = parseReply(payloadOf(encodeError(9, stale)));
    expect(reply).toMatchObject({
      kind: 'error',
      re: 9,
      error: { code: 'sandbox.epoch_stale', details: { epoch: 1 } },
    });
    expect(parseReply(payloadOf(encodeDetached(3, stale)))).toMatchObject({ kind: 'detached', stream: 3 });
  });

  it('SBX-2 with a code that nobody knows are a WireError, not a crash', () => {
    const reply = parseReply(json({ re: 1, error: { code: 'constructor', message: '' } }));
    expect(reply).toMatchObject({ kind: 'error', error: { code: 'sandbox.protocol' } });
  });

  it('SBX-2 of any JSON are a reply or a WireError', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('end', 'bye', 'detached', 'what'), (value, ev) => {
        for (const payload of [json(value ?? null), json({ ...Object(value), ev })]) {
          try {
            parseReply(payload);
          } catch (error) {
            expect(error).toBeInstanceOf(WireError);
          }
        }
        expect(() => parseResult('info', value)).toThrow(WireError);
      }),
    );
  });
});

describe('wire versions', () => {
  it('SBX-3 choose the newest that both speak, or none', () => {
    const range = fc
      .tuple(fc.nat({ max: 9 }), fc.nat({ max: 9 }))
      .map(([a, b]) => ({ min: Math.min(a, b), max: Math.max(a, b) }));
    fc.assert(
      fc.property(range, range, (theirs, ours) => {
        const shared = Array.from({ length: 10 }, (_, version) => version).filter((version) =>
          [theirs, ours].every(({ min, max }) => version >= min && version <= max),
        );
        expect(commonWireVersion(theirs, ours)).toBe(shared.at(-1) ?? null);
      }),
    );
  });
});
