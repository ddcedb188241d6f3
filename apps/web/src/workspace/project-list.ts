// The projects that the person can see: asked for at each connection and every few seconds, for not all of them are joined.
import type { ProjectInfo } from '#protocol';
import { callOnce } from '../connection/call-once.js';
import type { Connection } from '../connection/connection.js';
import { type Problem, problemOf } from '../state/problem.js';
import { createStore, type ReadableStore, type Store } from '../state/store.js';

const PAGE_SIZE = 100;
const SOON_MS = 250;

export interface ProjectListState {
  /** Most recently active first; undefined until the first answer. */
  readonly projects: readonly ProjectInfo[] | undefined;
  readonly nextCursor: string | undefined;
  readonly problem: Problem | undefined;
}

type Action =
  | { type: 'listed'; projects: ProjectInfo[]; nextCursor: string | undefined }
  | { type: 'more'; projects: ProjectInfo[]; nextCursor: string | undefined }
  | { type: 'failed'; problem: Problem };

function reducer(state: ProjectListState, action: Action): ProjectListState {
  switch (action.type) {
    case 'listed': {
      // Pages that were loaded before stay, as far as the first one does not bring them again.
      const ids = new Set(action.projects.map(({ project_id: id }) => id));
      const wasLonger = action.nextCursor !== undefined && (state.projects?.length ?? 0) > action.projects.length;
      const later = wasLonger
        ? (state.projects ?? []).slice(PAGE_SIZE).filter((project) => !ids.has(project.project_id))
        : [];
      const nextCursor = wasLonger ? state.nextCursor : action.nextCursor;
      return { projects: [...action.projects, ...later], nextCursor, problem: undefined };
    }
    case 'more': {
      const held = state.projects ?? [];
      const ids = new Set(held.map(({ project_id: id }) => id));
      const fresh = action.projects.filter((project) => !ids.has(project.project_id));
      return { projects: [...held, ...fresh], nextCursor: action.nextCursor, problem: undefined };
    }
    case 'failed':
      return { ...state, problem: action.problem };
  }
}

export class ProjectList {
  private readonly store: Store<ProjectListState, Action>;

  private soon: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly connection: Connection) {
    const initial = { projects: undefined, nextCursor: undefined, problem: undefined };
    this.store = createStore<ProjectListState, Action>(reducer, initial);
    connection.state.subscribe(() => void this.refresh());
  }

  get state(): ReadableStore<ProjectListState> {
    return this.store;
  }

  /** Never rejects. Does nothing while not connected: the next connection refreshes. */
  async refresh(): Promise<void> {
    if (this.connection.state.get().status !== 'connected') return;
    await this.load('listed');
  }

  /** Refreshes once for everything that happens within a moment. */
  refreshSoon(): void {
    this.soon ??= setTimeout(() => {
      this.soon = undefined;
      void this.refresh();
    }, SOON_MS);
  }

  stop(): void {
    clearTimeout(this.soon);
  }

  async loadMore(): Promise<void> {
    await this.load('more', this.store.get().nextCursor);
  }

  /** Throws a ProblemError. */
  async create(path: string, name: string): Promise<ProjectInfo> {
    const named = name.trim() === '' ? {} : { name: name.trim() };
    const project = await callOnce(this.connection, 'project_create', { path: path.trim(), ...named });
    await this.refresh();
    return project;
  }

  private async load(type: 'listed' | 'more', cursor?: string): Promise<void> {
    try {
      const request = { limit: PAGE_SIZE, ...(cursor !== undefined && { cursor }) };
      const { projects, next_cursor: nextCursor } = await this.connection.call('project_list', request);
      this.store.dispatch({ type, projects, nextCursor });
    } catch (error) {
      this.store.dispatch({ type: 'failed', problem: problemOf(error) });
    }
  }
}
