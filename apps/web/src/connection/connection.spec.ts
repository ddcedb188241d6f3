// The connection against a real socket.io server in this process.
import { once } from 'node:events';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server, type Socket } from 'socket.io';
import { ProblemError } from '../state/problem.js';
import { callOnce } from './call-once.js';
import { SocketConnection } from './connection.js';
import type { ConnectionState } from './connection-state.js';

const ID = '0197f000-0000-7000-8000-000000000001';
const HELLO = {
  version: '1',
  protocol: { min: 1, max: 1 },
  server_time: '2026-01-01T00:00:00.000Z',
  user: { user_id: ID, name: 'Ada', is_admin: false },
  limits: { max_frame_bytes: 1, max_message_kb: 1, max_prompt_bytes: 1, run_timeout_ms: 1, run_timeout_max_ms: 1 },
  demo_model: true,
  project_roots: ['/srv'],
  something_new: true,
};
const refusal = (code: string, retryable: boolean) => {
  const data = { code, kind: 'unauthenticated', message: 'No.', retryable, correlation_id: 'c1' };
  return Object.assign(new Error('No.'), { data });
};
type Ack = (answer: unknown) => void;

describe('SocketConnection', () => {
  let http: HttpServer;
  let server: Server;
  let url: string;
  let refuse: Error | undefined;
  let answer: (event: string, payload: Record<string, unknown>, ack: Ack, socket: Socket) => void;
  let connection: SocketConnection;
  const unreadable: string[] = [];

  beforeEach(async () => {
    refuse = undefined;
    answer = (_event, _payload, ack) => ack({ ok: true, data: {} });
    unreadable.length = 0;
    http = createServer();
    server = new Server(http, { transports: ['websocket'] });
    server.use((_socket, next) => next(refuse));
    server.on('connection', (socket) => {
      socket.emit('hello', HELLO);
      socket.onAny((event: string, payload: Record<string, unknown>, ack: Ack) => answer(event, payload, ack, socket));
    });
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    connection = new SocketConnection(url, 'secret', (name) => unreadable.push(name));
  });
  afterEach(async () => {
    connection.close();
    await server.close();
  });

  const reach = <S extends ConnectionState['status']>(status: S): Promise<Extract<ConnectionState, { status: S }>> =>
    new Promise((resolve) => {
      const look = (): boolean => {
        const state = connection.state.get();
        if (state.status !== status) return false;
        resolve(state as Extract<ConnectionState, { status: S }>);
        return true;
      };
      if (look()) return;
      const stop = connection.state.subscribe(() => look() && stop());
    });
  const problemOf = async (promise: Promise<unknown>): Promise<unknown> =>
    promise.then(
      () => 'no problem',
      (error: unknown) => (error instanceof ProblemError ? error.problem.code : error),
    );

  it('says hello, with token and protocol version in the handshake', async () => {
    const connecting = once(server, 'connection') as Promise<[Socket]>;
    connection.open();
    const [socket] = await connecting;
    expect(socket.handshake.auth).toEqual({ token: 'secret', protocol: 1 });
    expect((await reach('connected')).hello).toMatchObject({ demo_model: true, project_roots: ['/srv'] });
  });

  it('WEB-1, WEB-3 shows a refusal as the server words it and does not repeat it by itself', async () => {
    refuse = refusal('auth.token_invalid', false);
    connection.open();
    expect((await reach('refused')).problem).toMatchObject({
      code: 'auth.token_invalid',
      message: 'No.',
      correlationId: 'c1',
    });
    refuse = undefined;
    connection.retryNow();
    await reach('connected');
  });

  it('WEB-2 comes back after a refusal that may pass, and after a server that ended the connection', async () => {
    refuse = refusal('service.draining', true);
    connection.open();
    expect((await reach('reconnecting')).problem?.code).toBe('service.draining');
    refuse = undefined;
    await reach('connected');
    const again = once(server, 'connection');
    server.disconnectSockets(true);
    await reach('reconnecting');
    await again;
    expect((await reach('connected')).hello.version).toBe('1');
  });

  it('WEB-2 comes back at once when it is told to', async () => {
    connection.open();
    await reach('connected');
    const again = once(server, 'connection');
    server.disconnectSockets(true);
    await reach('reconnecting');
    connection.retryNow();
    await again;
    await reach('connected');
  });

  it('WEB-4 sends nothing while there is no connection', async () => {
    expect(await problemOf(connection.call('ping', {}))).toBe('client.offline');
  });

  it('WEB-5 gives the data of an ack, the server’s problem, or that it was not understood', async () => {
    connection.open();
    await reach('connected');
    const acks: unknown[] = [
      { ok: true, data: { server_time: '2026-01-01T00:00:00.000Z', something_new: 1 } },
      {
        ok: false,
        error: { code: 'something.new', kind: 'new_kind', message: 'm', retryable: false, correlation_id: 'c' },
      },
      { ok: true, data: { server_time: 7 } },
      'nonsense',
    ];
    answer = (_event, _payload, ack) => ack(acks.shift());
    await expect(connection.call('ping', {})).resolves.toEqual({ server_time: '2026-01-01T00:00:00.000Z' });
    expect(await problemOf(connection.call('ping', {}))).toBe('something.new');
    expect(await problemOf(connection.call('ping', {}))).toBe('client.unreadable');
    expect(await problemOf(connection.call('ping', {}))).toBe('client.unreadable');
  });

  it('WEB-5 hands on events of a type that it does not know, and no payload of another shape', async () => {
    connection.open();
    await reach('connected');
    const event = {
      project_id: ID,
      seq: 1,
      event_id: ID,
      type: 'something.new',
      created_at: HELLO.server_time,
      payload: {},
    };
    const heard = new Promise((resolve) => connection.on('event', resolve));
    server.emit('event', { ...event, seq: 'one' });
    server.emit('event', event);
    expect(await heard).toEqual(event);
    expect(unreadable).toEqual(['event']);
  });

  it('WEB-4 repeats a creating call with the same key when the connection broke before its answer', async () => {
    connection.open();
    await reach('connected');
    const keys: unknown[] = [];
    answer = (_event, payload, ack, socket) => {
      keys.push(payload['idempotency_key']);
      if (keys.length === 1) socket.disconnect(true);
      else ack({ ok: true, data: { run_id: ID, session_id: ID, status: 'queued', position: 0 } });
    };
    const ack = await callOnce(connection, 'execute', { project_id: ID, prompt: 'Hi' });
    expect(ack).toEqual({ run_id: ID, session_id: ID, status: 'queued', position: 0 });
    expect(keys).toHaveLength(2);
    expect(keys[0]).toBe(keys[1]);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('WEB-4 does not repeat a call that the server refused', async () => {
    connection.open();
    await reach('connected');
    let calls = 0;
    answer = (_event, _payload, ack) => {
      calls += 1;
      ack({
        ok: false,
        error: { code: 'project.not_found', kind: 'not_found', message: 'm', retryable: false, correlation_id: 'c' },
      });
    };
    expect(await problemOf(callOnce(connection, 'execute', { project_id: ID, prompt: 'Hi' }))).toBe(
      'project.not_found',
    );
    expect(calls).toBe(1);
  });

  it('finds out that the connection did not survive', async () => {
    connection.open();
    await reach('connected');
    answer = (_event, _payload, _ack, socket) => socket.conn.close();
    const again = once(server, 'connection');
    await connection.check();
    await again;
    await reach('connected');
  });
});
