// A connection whose server is a function: for the specs of what stands on a connection.
import type { ClientEventName, ClientRequest } from '#protocol';
import { clientProblem, ProblemError } from '../state/problem.js';
import { createStore } from '../state/store.js';
import type { Connection } from './connection.js';
import { type ConnectionAction, connectionReducer, type ConnectionState, type Hello } from './connection-state.js';
import { type AckData, PUSH_NAMES, type Pushes, type PushName } from './wire.js';

export interface Call {
  readonly event: ClientEventName;
  readonly payload: Record<string, unknown>;
}

const HELLO = { version: '1' } as Hello;

export class ScriptedConnection implements Connection {
  readonly state = createStore<ConnectionState, ConnectionAction>(connectionReducer, { status: 'connecting' });
  readonly calls: Call[] = [];
  private readonly listeners = new Map<PushName, Set<(push: never) => void>>(
    PUSH_NAMES.map((name) => [name, new Set()]),
  );

  /** `answer` gives the ack's data, at once or later, or throws. */
  constructor(private readonly answer: (call: Call) => unknown) {}

  connect(): void {
    this.state.dispatch({ type: 'opened', hello: { ...HELLO } });
  }

  lose(): void {
    this.state.dispatch({ type: 'lost', attempt: 1, retryAt: 0 });
  }

  push<P extends PushName>(name: P, push: Pushes[P]): void {
    for (const listener of this.listeners.get(name) ?? []) (listener as (push: Pushes[P]) => void)(push);
  }

  async call<E extends ClientEventName>(event: E, payload: ClientRequest<E>): Promise<AckData<E>> {
    if (this.state.get().status !== 'connected') throw new ProblemError(clientProblem('client.offline'));
    const call = { event, payload: payload as Record<string, unknown> };
    this.calls.push(call);
    return (await this.answer(call)) as AckData<E>;
  }

  on<P extends PushName>(name: P, listener: (push: Pushes[P]) => void): () => void {
    this.listeners.get(name)?.add(listener);
    return () => this.listeners.get(name)?.delete(listener);
  }

  /** The payloads of the calls of an event so far. */
  payloads(event: ClientEventName): Record<string, unknown>[] {
    return this.calls.filter((call) => call.event === event).map(({ payload }) => payload);
  }
}
