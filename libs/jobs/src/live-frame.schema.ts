// Live frames as they travel through Redis: JSON with a version, checked when read (R18).
import { z } from 'zod';
import type { Announcement, LiveFrame } from '#domain';
import { EVENT_TYPES, RUN_KINDS, RUN_STATUSES, WAIT_REASONS } from '#kernel';

const seq = z.int().nonnegative();
const time = z.iso.datetime().transform((text) => new Date(text));

const event = z.object({
  projectId: z.string(),
  seq,
  eventId: z.string(),
  type: z.enum(EVENT_TYPES),
  sessionId: z.string().nullable(),
  runId: z.string().nullable(),
  payload: z.record(z.string(), z.unknown()),
  createdAt: time,
});
const dispatch = z.object({
  runId: z.string(),
  hostId: z.string(),
  projectId: z.string(),
  dispatchNo: z.int(),
  correlationId: z.string(),
});
const queuedActiveRun = z.object({
  runId: z.string(),
  kind: z.enum(RUN_KINDS),
  status: z.enum(RUN_STATUSES),
  title: z.string(),
  startedAt: time.optional(),
  waitingSince: time.optional(),
  waitReason: z.enum(WAIT_REASONS).optional(),
  resumeAt: time.optional(),
});
const queue = z.object({
  projectId: z.string(),
  revision: z.int(),
  lanes: z.array(
    z
      .object({
        lane: z.string(),
        activeRunId: z.string().optional(),
        active: queuedActiveRun.optional(),
        parked: z.array(queuedActiveRun).optional(),
        paused: z.object({ since: time, by: z.string() }).optional(),
        queued: z.array(z.object({ runId: z.string(), position: z.int(), kind: z.enum(RUN_KINDS), title: z.string() })),
        queuedCount: z.int().optional(),
      })
      // An older version lists all and counts nothing.
      .transform(({ queuedCount, ...lane }) => ({ ...lane, queuedCount: queuedCount ?? lane.queued.length })),
  ),
});
const announcement = z.object({
  projectId: z.string(),
  events: z.array(event),
  headSeq: seq.optional(),
  dispatches: z.array(dispatch),
  queue: queue.optional(),
  wakeHostIds: z.array(z.string()),
});
export const deltaFrame = z.object({
  projectId: z.string(),
  runId: z.string(),
  epoch: z.int(),
  messageId: z.string(),
  blockIndex: z.int(),
  blockType: z.enum(['text', 'thinking', 'tool_use']),
  offset: z.int(),
  text: z.string(),
});
const output = z.object({ projectId: z.string(), runId: z.string(), headOffset: z.int(), ended: z.boolean() });

const frame = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('announcement'), announcement }),
  z.object({ kind: z.literal('delta'), delta: deltaFrame }),
  z.object({ kind: z.literal('output'), output }),
]);
const envelope = z.object({ version: z.literal(1), frame });

/** Announcements above this are sent without their events: readers fetch those from Postgres. */
export const MAX_FRAME_BYTES = 512 * 1024;

const encode = (value: LiveFrame): string => JSON.stringify({ version: 1, frame: value });

/** At most `MAX_FRAME_BYTES` for an announcement whose events are what makes it large. */
export function encodeLiveFrame(value: LiveFrame): string {
  const text = encode(value);
  if (value.kind !== 'announcement' || Buffer.byteLength(text) <= MAX_FRAME_BYTES) return text;
  return encode({ kind: 'announcement', announcement: withoutEvents(value.announcement) });
}

/** Undefined for what this build cannot read: readers catch up from Postgres anyway. */
export function decodeLiveFrame(text: string): LiveFrame | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const parsed = envelope.safeParse(json);
  return parsed.success ? parsed.data.frame : undefined;
}

function withoutEvents(full: Announcement): Announcement {
  const headSeq = full.events.reduce((head, { seq: next }) => Math.max(head, next), full.headSeq ?? 0);
  return { ...full, events: [], headSeq };
}
