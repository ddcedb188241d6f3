// A value that changes only by actions through a pure reducer, and tells its listeners when it did.

/** What a component needs of a store: fits React's useSyncExternalStore. */
export interface ReadableStore<S> {
  readonly get: () => S;
  /** Calls the listener after each change; the result ends that. */
  readonly subscribe: (listener: () => void) => () => void;
}

export interface Store<S, A> extends ReadableStore<S> {
  readonly dispatch: (action: A) => void;
}

export function createStore<S, A>(reducer: (state: S, action: A) => S, initial: S): Store<S, A> {
  let state = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    dispatch(action) {
      const next = reducer(state, action);
      if (Object.is(next, state)) return;
      state = next;
      for (const listener of [...listeners]) listener();
    },
  };
}
