// A byte stream as it arrives, by absolute offset: what was read, what is shown, and where to go on after a lost connection. Pure.
import { STREAM_CHANNELS, type StreamChannel } from '#kernel';
import { ANSI_START, type AnsiState, parseAnsi } from './ansi-parser.js';
import { EMPTY_SCREEN, type Screen, write } from './screen.js';
import { decodeUtf8, firstBoundary, NO_BYTES } from './utf8.js';

export interface Chunk {
  readonly offset: number;
  readonly channel: StreamChannel;
  readonly bytes: Uint8Array;
}

export interface StreamEnd {
  readonly exitCode: number | undefined;
  readonly reason: string;
}

interface ChannelState {
  readonly rest: Uint8Array;
  readonly ansi: AnsiState;
  /** Nothing was read yet after bytes that nobody sees: the first character may be cut in two. */
  readonly entering: boolean;
}

export interface OutputView {
  /** First byte that has not been read: where a subscription goes on. */
  readonly nextOffset: number;
  /** Bytes that were passed over: before the first one shown, or no longer kept by the server. */
  readonly skippedBytes: number;
  readonly screen: Screen;
  readonly channels: Readonly<Record<StreamChannel, ChannelState>>;
  readonly end: StreamEnd | undefined;
}

export function emptyOutput(fromOffset = 0): OutputView {
  return {
    nextOffset: fromOffset,
    skippedBytes: fromOffset,
    screen: EMPTY_SCREEN,
    channels: freshChannels(fromOffset > 0),
    end: undefined,
  };
}

/** Adds a chunk: what was read before is passed over, what is missing before it counts as skipped. */
export function addChunk(view: OutputView, chunk: Chunk): OutputView {
  const end = chunk.offset + chunk.bytes.length;
  if (end <= view.nextOffset) return view;
  const { channels, skippedBytes, nextOffset } = skipTo(view, chunk.offset);
  const before = channels[chunk.channel];
  const unread = chunk.bytes.subarray(Math.max(0, nextOffset - chunk.offset));
  const { text, rest } = decodeUtf8(before.rest, before.entering ? unread.subarray(firstBoundary(unread)) : unread);
  const { state: ansi, tokens } = parseAnsi(before.ansi, text);
  return {
    ...view,
    nextOffset: end,
    skippedBytes,
    screen: write(view.screen, tokens, chunk.channel),
    channels: { ...channels, [chunk.channel]: { rest, ansi, entering: false } },
  };
}

/** Passes over bytes that the server does not keep. */
export function skipTo(view: OutputView, offset: number): OutputView {
  if (offset <= view.nextOffset) return view;
  const skippedBytes = view.skippedBytes + offset - view.nextOffset;
  return { ...view, nextOffset: offset, skippedBytes, channels: freshChannels(true) };
}

export function endOutput(view: OutputView, end: StreamEnd): OutputView {
  return { ...view, end };
}

function freshChannels(entering: boolean): Record<StreamChannel, ChannelState> {
  const fresh = { rest: NO_BYTES, ansi: ANSI_START, entering };
  return Object.fromEntries(STREAM_CHANNELS.map((channel) => [channel, fresh])) as Record<StreamChannel, ChannelState>;
}
