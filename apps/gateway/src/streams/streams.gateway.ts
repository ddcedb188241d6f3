// Client events about the output of commands as it comes.
import { Inject, Injectable } from '@nestjs/common';
import type { OutputHead, OutputStore } from '#domain';
import { AppError } from '#kernel';
import { type Logger, logError } from '#observability';
import { type ClientData, type ClientRequest, LIMITS, type OutputGap } from '#protocol';
import { gapOf } from '../history/command-output.js';
import { FeedHub } from '../live/feed-hub.js';
import { LOGGER, PORT } from '../ports.js';
import type { ClientConnection } from '../transport/client-connection.js';
import type { EventHandlers, ProjectContext } from '../transport/request-context.js';
import { StreamSubscription } from './stream-subscription.js';

type Events = 'stream_subscribe' | 'stream_ack' | 'stream_unsubscribe';

const KEY = 'stream:';
const MAX_STREAMS = 100;
/** A piece of output in one message; smaller for clients with a smaller limit. */
const PIECE_BYTES = 64 * 1024;

@Injectable()
export class StreamsGateway {
  readonly handlers: EventHandlers<Events> = {
    stream_subscribe: (request, context) => this.subscribe(request, context),
    stream_ack: async ({ stream_id: streamId, acked_offset: offset }, { connection }) => {
      subscriptionOf(connection, streamId).acknowledge(offset);
      return {};
    },
    stream_unsubscribe: async ({ stream_id: streamId }, { connection }) => {
      if (!connection.detach(`${KEY}${streamId}`)) throw notSubscribed();
      return {};
    },
  };

  constructor(
    @Inject(PORT.outputs) private readonly outputs: OutputStore,
    private readonly hub: FeedHub,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  private async subscribe(
    request: ClientRequest<'stream_subscribe'>,
    context: ProjectContext,
  ): Promise<ClientData<'stream_subscribe'>> {
    const { stream_id: streamId, from_offset: fromOffset = 0 } = request;
    const head = await this.outputs.head(streamId);
    if (head === undefined) throw new AppError('stream.not_found', 'There is no such stream.');
    if (fromOffset > head.headOffset) {
      throw new AppError('stream.offset_invalid', 'The stream does not reach that far.', {
        details: { head_offset: head.headOffset },
      });
    }
    const gap = await this.gapFrom(head, fromOffset);
    const subscription = this.open(context, { streamId, fromOffset, windowBytes: windowOf(request) });
    context.afterAck(() => subscription.start());
    return {
      stream_id: streamId,
      start_offset: fromOffset,
      head_offset: head.headOffset,
      truncated: gap !== undefined,
      ...(gap === undefined ? {} : { gap }),
      ended: head.ended,
    };
  }

  private open(
    { connection, project }: ProjectContext,
    range: { streamId: string; fromOffset: number; windowBytes: number },
  ): StreamSubscription {
    const key = `${KEY}${range.streamId}`;
    if (connection.attachment(key) === undefined) makeRoom(connection);
    const lease = this.hub.acquire(project.projectId);
    const subscription = new StreamSubscription({
      ...range,
      maxPieceBytes: Math.min(PIECE_BYTES, connection.maxMessageBytes),
      outputs: this.outputs,
      outbox: connection.outbox,
      onOutput: (listener) => lease.feed.onOutput(range.streamId, listener),
      released: () => lease.release(),
      report: (error, about) => logError(this.logger, error, about),
    });
    connection.attach(key, subscription);
    return subscription;
  }

  /** What is not kept from this offset on; the cut of a run at work may grow. */
  private async gapFrom(head: OutputHead, offset: number): Promise<OutputGap | undefined> {
    if (offset >= head.headOffset) return undefined;
    if (head.expiredAt !== null) return gapOf(head, { from: offset, to: head.headOffset });
    if (head.cut !== null && offset < head.cut.to) {
      return gapOf(head, { from: Math.max(offset, head.cut.from), to: head.cut.to });
    }
    const stored = (await this.outputs.nextStored(head.runId, offset)) ?? head.headOffset;
    return stored === offset ? undefined : gapOf(head, { from: offset, to: stored });
  }
}

const windowOf = (request: ClientRequest<'stream_subscribe'>): number =>
  request.window_bytes ?? LIMITS.streamWindowBytes.default;

const notSubscribed = (): AppError => new AppError('stream.not_subscribed', 'There is no subscription to this stream.');

/** Streams that ended stay for their last acknowledgements, until their place is needed. Throws `connection.limit_reached`. */
function makeRoom(connection: ClientConnection): void {
  if (connection.count(KEY) < MAX_STREAMS) return;
  connection.detachAll((attachment) => attachment instanceof StreamSubscription && attachment.ended);
  if (connection.count(KEY) < MAX_STREAMS) return;
  throw new AppError('connection.limit_reached', 'This connection has subscribed to too many streams.', {
    details: { max_streams: MAX_STREAMS },
  });
}

function subscriptionOf(connection: ClientConnection, streamId: string): StreamSubscription {
  const attachment = connection.attachment(`${KEY}${streamId}`);
  if (attachment instanceof StreamSubscription) return attachment;
  throw notSubscribed();
}
