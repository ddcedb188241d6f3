// Reads a store from a component, which renders again when what it reads changed.
import { useSyncExternalStore } from 'react';
import type { ReadableStore } from '../state/store.js';

export function useStore<S>(store: ReadableStore<S>): S {
  return useSyncExternalStore(store.subscribe, store.get);
}

/** Reads a part of a store. `select` must give the same value for as long as nothing changed that it depends on. */
export function useSelected<S, T>(store: ReadableStore<S>, select: (state: S) => T): T {
  return useSyncExternalStore(store.subscribe, () => select(store.get()));
}
