// A creating call that survives a lost connection and still happens once.
import { newId } from '#kernel';
import type { ClientEventName, ClientRequest } from '#protocol';
import { clientProblem, ProblemError } from '../state/problem.js';
import type { Connection } from './connection.js';
import type { AckData } from './wire.js';

/** Resolves when the connection stands; rejects when it was refused or closed. */
export function whenConnected({ state }: Connection): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = (): boolean => {
      const current = state.get();
      if (current.status === 'connected') resolve();
      else if (current.status === 'refused') reject(new ProblemError(current.problem));
      else if (current.status === 'closed') reject(new ProblemError(clientProblem('client.offline')));
      else return false;
      return true;
    };
    if (look()) return;
    const stop = state.subscribe(() => {
      if (look()) stop();
    });
  });
}

type CreatingEvent = {
  [E in ClientEventName]: 'idempotency_key' extends keyof ClientRequest<E> ? E : never;
}[ClientEventName];

/** How often an unanswered call is repeated while the connection stands. */
const MAX_UNANSWERED = 3;

/**
 * A creating call that survives a lost connection: it carries an idempotency key and is repeated with the same one when it is
 * not known whether it arrived. Throws at once while not connected, so that nothing is sent that a person gave up on.
 */
export async function callOnce<E extends CreatingEvent>(
  connection: Connection,
  event: E,
  payload: Omit<ClientRequest<E>, 'idempotency_key'>,
): Promise<AckData<E>> {
  const request = { ...payload, idempotency_key: newId() } as ClientRequest<E>;
  for (let unanswered = 0; ;) {
    try {
      return await connection.call(event, request);
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      const { code } = error.problem;
      if (code === 'client.no_answer') unanswered += 1;
      if ((code !== 'client.connection_lost' && code !== 'client.no_answer') || unanswered >= MAX_UNANSWERED)
        throw error;
      await whenConnected(connection);
    }
  }
}
