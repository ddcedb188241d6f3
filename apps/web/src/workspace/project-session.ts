// One project that the page has open: joins it, keeps its view up to date over every reconnect, and loads what is missing.
import type { Connection } from '../connection/connection.js';
import { gapsOf, newestSeq, oldestSeq, type SeqRange } from '../state/event-log.js';
import { problemOf } from '../state/problem.js';
import { emptyProject, type ProjectAction, projectReducer, type ProjectView } from '../state/project-state.js';
import { createStore, type ReadableStore, type Store } from '../state/store.js';

const PAGE_SIZE = 200;
/** Holes up to this many events are filled without asking; larger ones when somebody wants to read them. */
const FILL_UP_TO = 1000;
const GAP_PAGE_SIZE = 500;
const RUNS_LISTED = 100;

export class ProjectSession {
  private readonly store: Store<ProjectView, ProjectAction>;
  private stops: (() => void)[] = [];
  private joinedConnection: unknown;
  private loading = false;

  constructor(
    private readonly connection: Connection,
    readonly projectId: string,
  ) {
    this.store = createStore<ProjectView, ProjectAction>(projectReducer, emptyProject(projectId));
  }

  get view(): ReadableStore<ProjectView> {
    return this.store;
  }

  /** Begins to listen, and joins as soon as the connection stands, again after each time it was lost. */
  start(): void {
    if (this.stops.length > 0) return;
    const { connection, projectId } = this;
    this.stops = [
      connection.on('event', (event) => {
        if (event.project_id === projectId) this.apply({ type: 'event', event });
      }),
      connection.on('delta', (delta) => {
        if (delta.project_id === projectId) this.apply({ type: 'delta', delta });
      }),
      connection.on('queue_changed', (queue) => {
        if (queue.project_id === projectId) this.apply({ type: 'queue', queue });
      }),
      connection.on('server_notice', (notice) => {
        // Too far behind to be sent everything: the server has ended the subscription.
        if (notice.code === 'resync_required' && notice.project_id === projectId) void this.join(true);
      }),
      connection.state.subscribe(() => void this.join()),
    ];
    void this.join();
  }

  /** Ends the subscription. The view stays, so that coming back asks only for what is new. */
  async stop(): Promise<void> {
    for (const stop of this.stops) stop();
    this.stops = [];
    this.joinedConnection = undefined;
    if (this.connection.state.get().status !== 'connected') return;
    // A connection that breaks now has left the project too, so a failure changes nothing.
    await this.connection.call('project_leave', { project_id: this.projectId }).catch(problemOf);
  }

  /** Joins once per connection; on the page's own wish (`again`) also after a failure. Never rejects. */
  async join(again = false): Promise<void> {
    const state = this.connection.state.get();
    if (state.status !== 'connected' || (this.joinedConnection === state && !again)) return;
    this.joinedConnection = state;
    const sinceSeq = newestSeq(this.store.get().log);
    this.store.dispatch({ type: 'joining' });
    try {
      const since = sinceSeq === undefined ? {} : { since_seq: sinceSeq };
      const data = await this.connection.call('project_join', { project_id: this.projectId, ...since });
      this.apply({ type: 'joined', data, ...(sinceSeq !== undefined && { sinceSeq }) });
      const { runs } = await this.connection.call('run_list', { project_id: this.projectId, limit: RUNS_LISTED });
      this.store.dispatch({ type: 'runs', runs });
    } catch (error) {
      const problem = problemOf(error);
      // A lost connection joins again by itself; anything else is shown.
      if (problem.code === 'client.connection_lost' || problem.code === 'client.offline') return;
      this.store.dispatch({ type: 'join_failed', problem });
    }
  }

  /** Loads the page of history before the oldest event held. Never rejects: the view says what went wrong. */
  async loadOlder(): Promise<void> {
    const { log } = this.store.get();
    const oldest = oldestSeq(log);
    if (oldest !== undefined && !log.reachesStart) await this.loadBefore(oldest, PAGE_SIZE);
  }

  /** Loads a page of what is missing in the middle, its newest part first. */
  async fillGap(gap: SeqRange): Promise<void> {
    await this.loadBefore(gap.to + 1, Math.min(GAP_PAGE_SIZE, gap.to - gap.from + 1));
  }

  async loadCommandHistory(): Promise<void> {
    try {
      const { sessions } = await this.connection.call('get_command_history', { project_id: this.projectId, limit: 50 });
      this.store.dispatch({ type: 'command_history', commands: sessions });
    } catch (error) {
      this.store.dispatch({ type: 'page_failed', problem: problemOf(error) });
    }
  }

  private apply(action: ProjectAction): void {
    this.store.dispatch(action);
    if (gapsOf(this.store.get().log).length > 0) void this.fillSmallGaps();
  }

  private async fillSmallGaps(): Promise<void> {
    for (;;) {
      const gap = gapsOf(this.store.get().log).findLast(({ from, to }) => to - from < FILL_UP_TO);
      if (gap === undefined || this.loading) return;
      await this.fillGap(gap);
      if (this.store.get().loading !== 'idle') return; // failed, and shown; the next event or a person tries again
    }
  }

  private async loadBefore(beforeSeq: number, limit: number): Promise<void> {
    if (this.loading) return;
    this.loading = true;
    this.store.dispatch({ type: 'page_requested' });
    try {
      const request = { project_id: this.projectId, before_seq: beforeSeq, limit };
      const data = await this.connection.call('get_messages', request);
      this.loading = false;
      this.store.dispatch({ type: 'page', beforeSeq, asked: limit, data });
    } catch (error) {
      this.loading = false;
      this.store.dispatch({ type: 'page_failed', problem: problemOf(error) });
    }
  }
}
