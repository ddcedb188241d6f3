// Questions, runs, queue and commands: what the server said at joining, and the events after it.
import type { PermissionInfo, QueueSnapshot } from '#protocol';
import { collectCommands, commandsOf, newestCommands } from './commands.js';
import { addEvents, EMPTY_LOG } from './event-log.js';
import { answerKeyOf, pendingPermissions } from './permissions.js';
import { emptyProject, projectReducer, type ProjectView } from './project-state.js';
import { activeRuns, currentProject, queuedCount, queuedRuns } from './runs.js';
import { eventsOf, finished, idOf, PROJECT, queued, started, type Step, USER } from './sample-run.js';

const request = (n: number, second: number): PermissionInfo => ({
  request_id: idOf(n),
  project_id: PROJECT,
  session_id: idOf(90),
  run_id: idOf(1),
  tool_name: 'Bash',
  input: { command: 'ls' },
  input_hash: `hash-${n}`,
  suggestions: [],
  status: 'open',
  created_at: `2026-01-01T00:00:${String(second).padStart(2, '0')}.000Z`,
});
const asked = (n: number, second: number): Step => ({
  type: 'permission.requested',
  run: 1,
  payload: { ...request(n, second) },
});
const closed = (n: number): Step => ({
  type: 'permission.closed',
  run: 1,
  payload: { request_id: idOf(n), status: 'answered', behavior: 'allow', answered_by: { user_id: USER, name: 'Ada' } },
});
const project = {
  project_id: PROJECT,
  name: 'shop',
  path: '/srv/shop',
  state: 'IDLE' as const,
  created_at: '2026-01-01T00:00:00.000Z',
  last_active: '2026-01-01T00:00:00.000Z',
  message_count: 0,
  queued_runs: 0,
  active_runs: 0,
};

function viewOf(
  steps: Step[],
  headSeq: number,
  permissions: PermissionInfo[] = [],
  queue?: QueueSnapshot,
): ProjectView {
  const log = addEvents(EMPTY_LOG, eventsOf(steps));
  return { ...emptyProject(PROJECT), log, snapshot: { headSeq, project, permissions }, queue };
}

it('WEB-37 has no answer for a question of which only a part is here', () => {
  const whole = request(1, 0);
  expect(answerKeyOf(whole)).toEqual({ request_id: idOf(1), input_hash: 'hash-1' });
  expect(answerKeyOf({ ...whole, truncated: true })).toBeUndefined();
  const { input_hash: _, ...cut } = whole;
  expect(answerKeyOf(cut)).toBeUndefined();
});

describe('pendingPermissions', () => {
  it('WEB-14 takes the list at joining and the events after it, oldest first', () => {
    const view = viewOf([asked(1, 5), asked(2, 9), asked(3, 7), closed(1)], 1, [request(1, 5)]);
    expect(pendingPermissions(view).map(({ request_id: id }) => id)).toEqual([idOf(3), idOf(2)]);
  });

  it('WEB-14 does not ask again what history tells', () => {
    expect(pendingPermissions(viewOf([asked(1, 5)], 1, []))).toEqual([]);
  });

  it('WEB-14 hears of an end before its beginning', () => {
    const [, end, begin] = eventsOf([queued(1), closed(4), asked(4, 1)]);
    if (begin === undefined || end === undefined) throw new Error('no events');
    let view = viewOf([queued(1)], 1);
    for (const event of [end, begin]) view = projectReducer(view, { type: 'event', event });
    expect(pendingPermissions(view)).toEqual([]);
  });

  it('WEB-14 orders questions of the same moment by their id', () => {
    const view = viewOf([], 0, [request(8, 1), request(2, 1), request(5, 1)]);
    expect(pendingPermissions(view).map(({ request_id: id }) => id)).toEqual([idOf(2), idOf(5), idOf(8)]);
  });
});

describe('runs', () => {
  const queue = (revision: number, active: number | undefined, ...waiting: number[]): QueueSnapshot => ({
    project_id: PROJECT,
    revision,
    lanes: [
      {
        lane: 'main',
        ...(active !== undefined && { active_run_id: idOf(active) }),
        queued: waiting.map((n, position) => ({ run_id: idOf(n), position, kind: 'prompt', title: `run ${n}` })),
      },
    ],
  });

  it('WEB-18 takes the queue snapshot with the higher revision, whichever comes last', () => {
    const view = { ...emptyProject(PROJECT), queue: queue(5, 1) };
    expect(projectReducer(view, { type: 'queue', queue: queue(4, 2) }).queue?.revision).toBe(5);
    expect(projectReducer(view, { type: 'queue', queue: queue(6, 2) }).queue?.revision).toBe(6);
  });

  it('WEB-40 counts the runs that are too far behind to be listed', () => {
    const long = queue(1, 1, 2, 3);
    const lanes = long.lanes.map((lane) => ({ ...lane, queued_count: 500 }));
    expect(queuedCount({ ...emptyProject(PROJECT), queue: { ...long, lanes } })).toBe(500);
    expect(queuedCount({ ...emptyProject(PROJECT), queue: long })).toBe(2);
  });

  it('WEB-19 says what a run is doing', () => {
    expect(activeRuns(viewOf([queued(1)], 0, [], queue(1, 1)))).toMatchObject([{ phase: 'starting', title: 'run 1' }]);
    expect(activeRuns(viewOf([queued(1), started(1)], 0, [], queue(1, 1)))).toMatchObject([{ phase: 'running' }]);
    const waiting = viewOf([queued(1), started(1), asked(4, 1)], 0, [], queue(1, 1));
    expect(activeRuns(waiting)).toMatchObject([{ phase: 'waiting', startedAt: '2026-01-01T00:00:01.000Z' }]);
  });

  it('WEB-18 does not show a run that is known to have ended', () => {
    const view = viewOf([queued(1), started(1), finished(1), queued(2)], 0, [], queue(1, 1, 2));
    expect(activeRuns(view)).toEqual([]);
    expect(queuedRuns(view).map(({ run_id: id }) => id)).toEqual([idOf(2)]);
    const cancelled = { type: 'run.cancelled', run: 2, payload: { status: 'cancelled', kind: 'prompt' } };
    expect(queuedRuns(viewOf([queued(2), cancelled], 0, [], queue(1, 1, 2)))).toEqual([]);
  });

  it('knows a run of which no event is loaded from the list of runs', () => {
    const run = {
      run_id: idOf(1),
      project_id: PROJECT,
      lane: 'main',
      kind: 'prompt' as const,
      status: 'running' as const,
      title: 'old',
      queued_at: '2026-01-01T00:00:00.000Z',
      started_at: '2026-01-01T00:00:00.000Z',
      timeout_ms: 1000,
      created_by: USER,
    };
    const view = projectReducer(viewOf([], 0, [], queue(1, 1)), { type: 'runs', runs: [run] });
    expect(activeRuns(view)).toMatchObject([{ phase: 'running', title: 'old' }]);
  });

  it('shows the project as of the newest event', () => {
    const steps = [
      { type: 'project.state', payload: { state: 'ERROR' } },
      { type: 'project.state', payload: { state: 'EXECUTING' } },
      { type: 'project.updated', payload: { name: 'new name' } },
    ];
    expect(currentProject(viewOf(steps, 1))).toMatchObject({ state: 'EXECUTING', name: 'new name' });
    expect(currentProject(emptyProject(PROJECT))).toBeUndefined();
  });

  it('knows that the project was deleted', () => {
    const [event] = eventsOf([{ type: 'project.deleted', payload: { project_id: PROJECT, path: '/p' } }]);
    if (event === undefined) throw new Error('no event');
    expect(projectReducer(emptyProject(PROJECT), { type: 'event', event }).phase).toBe('deleted');
  });
});

describe('commands', () => {
  const begun = {
    type: 'command.started',
    run: 3,
    payload: { shell_command: 'ls -l', working_directory: '/w', user_id: USER },
  };
  const ended = { type: 'command.finished', run: 3, payload: { exit_code: 2, duration_ms: 40, end_offset: 9 } };
  const over = finished(3, { kind: 'command', status: 'failed', exit_code: 2 });

  it('WEB-29 follows a command from the queue to its exit code', () => {
    const steps = [queued(3, 'command'), begun, ended, over];
    const states = steps.map((_, at) => collectCommands(eventsOf(steps.slice(0, at + 1)), []).get(idOf(3)));
    expect(states.map((command) => command?.status)).toEqual(['queued', 'running', 'running', 'failed']);
    expect(states.at(-1)).toMatchObject({ shellCommand: 'ls -l', exitCode: 2, durationMs: 40, endOffset: 9 });
  });

  it('WEB-29 shows commands whose events are not loaded, newest first, events before history', () => {
    const entry = {
      command_session_id: `cmd-${idOf(2)}`,
      run_id: idOf(2),
      shell_command: 'make',
      working_directory: '/w',
      status: 'succeeded' as const,
      exit_code: 0,
      duration_ms: 5,
      timestamp: '2026-01-01T00:00:00.000Z',
      output_preview: '',
      is_complete: true,
    };
    const stale = { ...entry, run_id: idOf(3), status: 'running' as const };
    const commands = newestCommands(
      collectCommands(eventsOf([queued(3, 'command'), begun, ended, over]), [entry, stale]),
    );
    expect(commands.map(({ runId, status }) => [runId, status])).toEqual([
      [idOf(3), 'failed'],
      [idOf(2), 'succeeded'],
    ]);
  });

  it('gives the same commands until something changes', () => {
    const view = viewOf([begun], 0);
    expect(commandsOf(view)).toBe(commandsOf({ ...view, partials: [] } as ProjectView));
    expect(commandsOf({ ...view, commandHistory: [] })).not.toBe(commandsOf(view));
  });
});
