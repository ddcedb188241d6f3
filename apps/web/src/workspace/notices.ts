// Short messages that belong to no place on the page: what somebody else did, and errors of buttons that are gone.
import { type Problem, problemOf } from '../state/problem.js';
import { createStore, type ReadableStore } from '../state/store.js';

export interface Notice {
  readonly id: number;
  readonly text?: string;
  readonly problem?: Problem;
}

type Action = { type: 'add'; notice: Notice } | { type: 'remove'; id: number };

/** The oldest make way beyond this many. */
const MAX_NOTICES = 4;

export class Notices {
  private nextId = 1;
  private readonly store = createStore((notices: readonly Notice[], action: Action): readonly Notice[] => {
    if (action.type === 'remove') return notices.filter(({ id }) => id !== action.id);
    return [...notices, action.notice].slice(-MAX_NOTICES);
  }, []);

  get list(): ReadableStore<readonly Notice[]> {
    return this.store;
  }

  tell(text: string): void {
    if (this.store.get().some((notice) => notice.text === text)) return;
    this.store.dispatch({ type: 'add', notice: { id: this.nextId++, text } });
  }

  /** Shows what went wrong. */
  report(error: unknown): void {
    this.store.dispatch({ type: 'add', notice: { id: this.nextId++, problem: problemOf(error) } });
  }

  dismiss(id: number): void {
    this.store.dispatch({ type: 'remove', id });
  }
}
