// One HTTP request as the use-cases know a client: it signed in, it has no read mark, and it hears no pushes.
import type { UserRecord } from '#domain';
import { AppError } from '#kernel';
import { LIMITS } from '#protocol';
import { ClientConnection } from '../transport/client-connection.js';
import { Outbox, type OutboxSocket } from '../transport/outbox.js';
import type { RequestContext } from '../transport/request-context.js';

const nothing = (): void => undefined;

/** Use-cases that push are of the socket alone. */
const noSocket: OutboxSocket = {
  emit: () => {
    throw new AppError('internal.unexpected', 'A use-case pushed to an HTTP request.');
  },
  conn: { on: nothing, close: nothing, transport: { on: nothing } },
};

/** `answered`: registers what is to be done when the answer is on its way. */
export function contextOf(
  user: UserRecord,
  correlationId: string,
  answered: (action: () => void) => void,
): RequestContext {
  const connection = new ClientConnection({
    connectionId: correlationId,
    user,
    clientId: undefined,
    maxMessageBytes: LIMITS.maxMessageKb.default * 1024,
    outbox: new Outbox(noSocket),
  });
  return { user, connection, correlationId, afterAck: answered };
}
