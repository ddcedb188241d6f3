// Where the connection stands.
import { clientProblem } from '../state/problem.js';
import { connectionReducer, type ConnectionState, type Hello, lastHello, retryDelayMs } from './connection-state.js';

const hello: Hello = {
  version: '1',
  protocol: { min: 1, max: 1 },
  server_time: '2026-01-01T00:00:00.000Z',
  user: { user_id: '0197f000-0000-7000-8000-000000000001', name: 'Ada', is_admin: false },
  limits: { max_frame_bytes: 1, max_message_kb: 1, max_prompt_bytes: 1, run_timeout_ms: 1, run_timeout_max_ms: 1 },
  demo_model: false,
  project_roots: [],
};

describe('retryDelayMs', () => {
  it('WEB-2 doubles up to 15 s, between half of that and all of it', () => {
    expect([1, 2, 3, 4].map((attempt) => retryDelayMs(attempt, 0.999999))).toEqual([500, 1000, 2000, 4000]);
    expect([1, 2, 3, 4].map((attempt) => retryDelayMs(attempt, 0))).toEqual([250, 500, 1000, 2000]);
    expect([retryDelayMs(30, 0), retryDelayMs(2000, 0.999999)]).toEqual([7500, 15_000]);
  });

  it('WEB-2 is never shorter than the server asked for', () => {
    expect(retryDelayMs(1, 0, 30_000)).toBe(30_000);
  });
});

describe('connectionReducer', () => {
  const connected: ConnectionState = { status: 'connected', hello };

  it('WEB-2 remembers what the server said of itself while it reconnects', () => {
    const lost = connectionReducer(connected, { type: 'lost', attempt: 1, retryAt: 5 });
    expect(lost).toMatchObject({ status: 'reconnecting', attempt: 1, retryAt: 5 });
    expect(lastHello(lost)).toBe(hello);
    expect(connectionReducer(lost, { type: 'retrying' })).toMatchObject({ status: 'reconnecting', retryAt: undefined });
    expect(
      lastHello(connectionReducer({ status: 'connecting' }, { type: 'lost', attempt: 1, retryAt: 5 })),
    ).toBeUndefined();
  });

  it('WEB-3 stays refused until it is opened again', () => {
    const refused = connectionReducer(connected, { type: 'refused', problem: clientProblem('client.unreadable') });
    expect(refused.status).toBe('refused');
    expect(connectionReducer(refused, { type: 'retrying' })).toBe(refused);
    expect(connectionReducer(refused, { type: 'opened', hello })).toEqual(connected);
  });

  it('hears nothing any more after it was closed', () => {
    const closed = connectionReducer(connected, { type: 'closed' });
    expect(connectionReducer(closed, { type: 'opened', hello })).toBe(closed);
  });
});
