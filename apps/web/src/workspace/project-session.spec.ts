// One open project over joins, losses and holes.
import { ScriptedConnection } from '../connection/scripted-connection.js';
import { clientProblem, ProblemError } from '../state/problem.js';
import { eventsOf, PROJECT, queued } from '../state/sample-run.js';
import type { WireEvent } from '../state/wire-event.js';
import { ProjectSession } from './project-session.js';

/** A server that holds this many events. */
class History {
  constructor(public size: number) {}
  get events(): WireEvent[] {
    return eventsOf(Array.from({ length: this.size }, (_, at) => queued(at + 1)));
  }
  join(since: number | undefined): unknown {
    const events = since === undefined ? this.events.slice(-200) : this.events.filter(({ seq }) => seq > since);
    const project = { project_id: PROJECT, name: 'p', state: 'IDLE' };
    const queue = { project_id: PROJECT, revision: 1, lanes: [] };
    const seqs = { oldest_seq: events[0]?.seq ?? 0, newest_seq: events.at(-1)?.seq ?? 0, head_seq: this.size };
    return { project, events, ...seqs, total_count: this.size, is_complete: true, live: [], permissions: [], queue };
  }
  page(before: number, limit: number): unknown {
    const older = this.events.filter(({ seq }) => seq < before);
    const seqs = { oldest_seq: 0, newest_seq: 0, total_count: this.size };
    return { messages: older.slice(-limit), ...seqs, is_complete: older.length <= limit };
  }
}

function open(history: History) {
  const failures: Error[] = [];
  const connection = new ScriptedConnection(({ event, payload }) => {
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
    if (event === 'project_join') return history.join(payload['since_seq'] as number | undefined);
    if (event === 'get_messages') return history.page(Number(payload['before_seq']), Number(payload['limit']));
    return event === 'run_list' ? { runs: [] } : {};
  });
  const session = new ProjectSession(connection, PROJECT);
  return { connection, session, failures, seqs: () => session.view.get().log.events.map(({ seq }) => seq) };
}

/** Lets promises that are due run, and what they lead to. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
};
const upTo = (n: number, from = 1): number[] => Array.from({ length: n - from + 1 }, (_, at) => from + at);

describe('ProjectSession', () => {
  it('joins when the connection stands, and asks after a loss for what is new only', async () => {
    const history = new History(3);
    const { connection, session, seqs } = open(history);
    session.start();
    expect(connection.calls).toEqual([]);
    connection.connect();
    await settled();
    expect([session.view.get().phase, seqs()]).toEqual(['joined', [1, 2, 3]]);
    connection.lose();
    history.size = 6;
    connection.connect();
    await settled();
    expect(seqs()).toEqual(upTo(6));
    expect(connection.payloads('project_join')).toEqual([
      { project_id: PROJECT },
      { project_id: PROJECT, since_seq: 3 },
    ]);
  });

  it('WEB-31 joins again from where it is when the server says that it fell too far behind', async () => {
    const history = new History(3);
    const { connection, session, seqs } = open(history);
    session.start();
    connection.connect();
    await settled();
    history.size = 8;
    const notice = { code: 'resync_required', message: 'Join again.' };
    connection.push('server_notice', { ...notice, project_id: 'another' });
    await settled();
    expect(connection.payloads('project_join')).toHaveLength(1);
    connection.push('server_notice', { ...notice, project_id: PROJECT });
    await settled();
    expect(seqs()).toEqual(upTo(8));
    expect(connection.payloads('project_join').at(-1)).toEqual({ project_id: PROJECT, since_seq: 3 });
  });

  it('WEB-7 fills a hole in what was pushed by itself', async () => {
    const history = new History(3);
    const { connection, session, seqs } = open(history);
    session.start();
    connection.connect();
    await settled();
    history.size = 900;
    const newest = history.events.at(-1);
    if (newest !== undefined) connection.push('event', newest);
    await settled();
    expect(seqs()).toEqual(upTo(900));
    expect(connection.payloads('get_messages').map(({ limit }) => limit)).toEqual([500, 396]);
  });

  it('WEB-7 leaves a large hole until somebody wants to read it', async () => {
    const history = new History(3);
    const { connection, session, seqs } = open(history);
    session.start();
    connection.connect();
    await settled();
    history.size = 3000;
    const newest = history.events.at(-1);
    if (newest !== undefined) connection.push('event', newest);
    await settled();
    expect(connection.payloads('get_messages')).toEqual([]);
    await session.fillGap({ from: 4, to: 2999 });
    await settled();
    expect(seqs()).toEqual([1, 2, 3, ...upTo(3000, 2500)]);
  });

  it('WEB-8 loads history upwards to the first event, one page at a time', async () => {
    const { connection, session, seqs } = open(new History(500));
    session.start();
    connection.connect();
    await settled();
    expect(seqs()).toEqual(upTo(500, 301));
    await Promise.all([session.loadOlder(), session.loadOlder()]);
    expect(seqs()).toEqual(upTo(500, 101));
    await session.loadOlder();
    expect([seqs(), session.view.get().log.reachesStart]).toEqual([upTo(500), true]);
    await session.loadOlder();
    expect(connection.payloads('get_messages')).toHaveLength(2);
  });

  it('shows why it could not join, and joins when it is asked again', async () => {
    const { connection, session, failures } = open(new History(1));
    failures.push(new ProblemError({ ...clientProblem('client.no_answer'), code: 'project.not_found' }));
    session.start();
    connection.connect();
    await settled();
    expect(session.view.get()).toMatchObject({ phase: 'failed', problem: { code: 'project.not_found' } });
    await session.join(true);
    expect(session.view.get()).toMatchObject({ phase: 'joined', problem: undefined });
  });

  it('shows why a page did not come, and tries it again when it is asked to', async () => {
    const { connection, session, failures } = open(new History(500));
    session.start();
    connection.connect();
    await settled();
    failures.push(new ProblemError(clientProblem('client.no_answer')));
    await session.loadOlder();
    expect(session.view.get().loading).toMatchObject({ code: 'client.no_answer' });
    await session.loadOlder();
    expect(session.view.get().loading).toBe('idle');
  });

  it('leaves, hears nothing more, and comes back for what is new', async () => {
    const history = new History(2);
    const { connection, session, seqs } = open(history);
    session.start();
    connection.connect();
    await settled();
    await session.stop();
    expect(connection.payloads('project_leave')).toHaveLength(1);
    history.size = 3;
    for (const event of history.events) connection.push('event', event);
    expect(seqs()).toEqual([1, 2]);
    session.start();
    await settled();
    expect(seqs()).toEqual([1, 2, 3]);
  });
});
