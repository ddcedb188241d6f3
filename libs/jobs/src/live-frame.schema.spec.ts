import fc from 'fast-check';
import type { Announcement, LiveFrame } from '#domain';
import { newId } from '#kernel';
import { decodeLiveFrame, encodeLiveFrame, MAX_FRAME_BYTES } from './live-frame.schema.js';

const projectId = newId();
const announcementOf = (texts: string[]): Announcement => ({
  projectId,
  events: texts.map((text, index) => ({
    projectId,
    seq: index + 7,
    eventId: newId(),
    type: 'message.user',
    sessionId: null,
    runId: newId(),
    payload: { text },
    createdAt: new Date(1_700_000_000_000 + index),
  })),
  dispatches: [],
  queue: { projectId, revision: 4, lanes: [{ lane: 'main', activeRunId: newId(), queued: [], queuedCount: 0 }] },
  wakeHostIds: [newId()],
});

describe('live frames', () => {
  it('ENG-2 come back as they were, times included', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { maxLength: 5 }), (texts) => {
        const frame: LiveFrame = { kind: 'announcement', announcement: announcementOf(texts) };
        expect(decodeLiveFrame(encodeLiveFrame(frame))).toEqual(frame);
      }),
    );
  });

  it.each(['', '{', 'null', '{"version":2,"frame":{"kind":"output"}}', '{"version":1,"frame":{"kind":"new"}}'])(
    'ENG-2 are refused when this build cannot read them: %p',
    (text) => {
      expect(decodeLiveFrame(text)).toBeUndefined();
    },
  );

  it('ENG-6 leave out the events of a large announcement and say up to where the store has them', () => {
    const large = announcementOf(['x'.repeat(MAX_FRAME_BYTES), 'y']);
    const text = encodeLiveFrame({ kind: 'announcement', announcement: large });
    expect(Buffer.byteLength(text)).toBeLessThan(MAX_FRAME_BYTES);
    expect(decodeLiveFrame(text)).toEqual({
      kind: 'announcement',
      announcement: { ...large, events: [], headSeq: 8 },
    });
  });

  it('ENG-6 keep the events of an announcement just below the limit', () => {
    const small = announcementOf(['x'.repeat(MAX_FRAME_BYTES - 2_000)]);
    const decoded = decodeLiveFrame(encodeLiveFrame({ kind: 'announcement', announcement: small }));
    expect(decoded).toEqual({ kind: 'announcement', announcement: small });
  });
});
