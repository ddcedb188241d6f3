// A server that speaks the protocol and tells stories, to look at the page without the real one: `node apps/web/dev/fixture-server.ts`.
// For development and screenshots only; tests use the real stack.
import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { extname, join } from 'node:path';
import { Server as SocketServer, type Socket } from 'socket.io';
import { command, longStory, nextId, permission, type permissionInfo, richStory, Story } from './fixture-story.ts';

const TOKEN = 'fixture';
const DIST = join(import.meta.dirname, '../../../dist/apps/web');
const ROOT = '/srv/projects';
const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

const OUTPUT: [channel: 'stdout' | 'stderr', text: string][] = [
  ['stdout', '\x1b[1m> shop@1.4.0 test\x1b[0m\n\n'],
  ['stdout', '\x1b[42m\x1b[30m PASS \x1b[0m \x1b[2msrc/checkout/\x1b[0mtotal.spec.ts\n'],
  ['stdout', '  \x1b[32m✓\x1b[0m rounds once (EUR)\n  \x1b[32m✓\x1b[0m rounds once (JPY)\n'],
  ['stderr', 'warning: the flag legacy-rounding is deprecated\n'],
  ['stdout', '\x1b[38;5;208mTests:\x1b[0m 2 passed, 2 total — größer, 日本語 🎉\n'],
];

interface Project {
  info: Record<string, unknown> & { project_id: string };
  story: Story;
  permissions: ReturnType<typeof permissionInfo>[];
  live: Record<string, unknown>[];
  lanes: { lane: string; active_run_id?: string; queued: Record<string, unknown>[] }[];
}

type Ack = (answer: unknown) => void;
type Handler = (payload: Record<string, unknown>, socket: Socket) => unknown;

class Refusal extends Error {
  readonly code: string;
  readonly kind: string;

  constructor(code: string, kind: string, message: string) {
    super(message);
    this.code = code;
    this.kind = kind;
  }
}

const errorObject = ({ code, kind, message }: Refusal) => ({
  code,
  kind,
  message,
  retryable: false,
  correlation_id: nextId(),
});

function makeProjects(): Map<string, Project> {
  const projects = new Map<string, Project>();
  const add = (name: string, state: string, make: (id: string) => Story, minutesAgo: number): Project => {
    const id = nextId();
    const story = make(id);
    const active = new Date(Date.now() - minutesAgo * 60_000).toISOString();
    const counts = { message_count: story.events.length, queued_runs: 0, active_runs: 0 };
    const times = { created_at: active, last_active: active };
    const info = { project_id: id, name, path: `${ROOT}/${name}`, state, ...times, ...counts };
    const project = { info, story, permissions: [], live: [], lanes: [{ lane: 'main', queued: [] }] };
    projects.set(id, project);
    return project;
  };
  busy(add('web-shop', 'EXECUTING', richStory, 0));
  add('billing-service', 'ERROR', failedStory, 47);
  add('ten-thousand-questions', 'IDLE', longStory, 60 * 5);
  add('docs', 'IDLE', (id) => new Story(id, 1), 60 * 24 * 3);
  add('a-project-with-a-name-that-is-rather-long', 'IDLE', (id) => new Story(id, 1), 60 * 24 * 30);
  return projects;
}

function failedStory(id: string): Story {
  const story = new Story(id, 50);
  command(story, 'make release', 2);
  return story;
}

/** A prompt that is being answered and has questions, and three runs behind it. */
function busy(project: Project): void {
  const { story } = project;
  const runId = nextId();
  story.add('session.created', { session_id: nextId() });
  story.user('Deploy the fix to staging and tell me when it is up.', runId);
  story.blocks(runId, `msg_${nextId()}`, 0, { type: 'text', text: 'I will build the image first.' });
  story.tool(
    runId,
    'Bash',
    { command: 'docker build -t shop:fix .', description: 'Build the image' },
    'Successfully built 4f1c',
  );
  const push = {
    command: 'docker push registry.example.com/shop:fix \\\n  && ./deploy.sh staging',
    description: 'Push and deploy',
  };
  project.permissions = [
    permission(story, runId, 'Bash', push),
    permission(story, runId, 'Write', {
      file_path: '/workspace/CHANGELOG.md',
      content: '## 1.4.1\n\n- fix rounding\u202e txt\n',
    }),
  ];
  const partial =
    'While the image is pushed, I prepare the note for the team.\n\n- the total is rounded **once**\n- vouchers are appl';
  const ids = { project_id: story.projectId, run_id: runId, message_id: 'msg_live' };
  project.live = [{ ...ids, block_index: 0, block_type: 'text', offset: 0, text: partial }];
  const queued = [
    'Write the release notes',
    'npm run e2e',
    'Summarise what changed this week in three sentences for the customer',
  ];
  const rows = queued.map((title, position) => ({
    run_id: nextId(),
    position,
    kind: position === 1 ? 'command' : 'prompt',
    title,
  }));
  project.lanes = [{ lane: 'main', active_run_id: runId, queued: rows }];
  project.info['queued_runs'] = 3;
  project.info['active_runs'] = 1;
}

function handlersOf(projects: Map<string, Project>, io: SocketServer): Record<string, Handler> {
  const find = (payload: Record<string, unknown>): Project => {
    const project = projects.get(String(payload['project_id']));
    if (project === undefined) throw new Refusal('project.not_found', 'not_found', 'There is no such project.');
    return project;
  };
  const queueOf = ({ info, lanes }: Project) => ({ project_id: info.project_id, revision: Date.now(), lanes });
  return {
    ping: () => ({ server_time: new Date().toISOString() }),
    project_list: () => ({ projects: [...projects.values()].map(({ info }) => info) }),
    project_create: ({ path }) => {
      throw String(path).includes('taken')
        ? new Refusal('project.path_taken', 'conflict', 'Another project has this folder.')
        : new Refusal('project.path_outside_roots', 'forbidden', 'The path must lie beneath one of the allowed roots.');
    },
    project_join: (payload) => {
      const project = find(payload);
      const since = typeof payload['since_seq'] === 'number' ? payload['since_seq'] : undefined;
      const { events } = project.story;
      const missed = since === undefined ? events.slice(-200) : events.filter(({ seq }) => seq > since);
      const seqs = { oldest_seq: missed[0]?.seq ?? 0, newest_seq: events.length, head_seq: events.length };
      const { info, live, permissions } = project;
      const rest = { total_count: events.length, is_complete: true, live, permissions, queue: queueOf(project) };
      return { project: info, events: missed, ...seqs, ...rest };
    },
    project_leave: () => ({}),
    run_list: () => ({ runs: [] }),
    get_messages: (payload) => {
      const before = Number(payload['before_seq']);
      const limit = Number(payload['limit']);
      const older = find(payload).story.events.filter(({ seq }) => seq < before);
      const messages = older.slice(-limit);
      const seqs = { oldest_seq: messages[0]?.seq ?? 0, newest_seq: messages.at(-1)?.seq ?? 0 };
      return { messages, ...seqs, total_count: older.length, is_complete: older.length <= limit };
    },
    execute: (payload) => {
      const project = find(payload);
      const runId = nextId();
      stream(project, runId, String(payload['prompt']), io);
      return { run_id: runId, session_id: nextId(), status: 'dispatched' };
    },
    permission_respond: (payload) => {
      const project = [...projects.values()].find(({ permissions }) =>
        permissions.some((p) => p.request_id === payload['request_id']),
      );
      if (project === undefined) throw new Refusal('permission.not_found', 'not_found', 'There is no such question.');
      project.permissions = project.permissions.filter((p) => p.request_id !== payload['request_id']);
      const answer = { request_id: payload['request_id'], behavior: payload['behavior'] };
      const by = { answered_by: { user_id: nextId(), name: 'Ada' } };
      io.emit('event', project.story.add('permission.closed', { ...answer, ...by, status: 'answered' }));
      return { ...answer, ...by, answered_at: new Date().toISOString(), first: false };
    },
    get_command_history: () => ({ sessions: [] }),
    stream_subscribe: (payload, socket) => {
      sendOutput(String(payload['stream_id']), Number(payload['from_offset']), socket);
      return {
        stream_id: payload['stream_id'],
        start_offset: payload['from_offset'],
        head_offset: 0,
        truncated: false,
        ended: true,
      };
    },
    stream_ack: () => ({}),
    stream_unsubscribe: () => ({}),
    agent_new_session: ({ project_id }) => ({ project_id, old_session_id: '', new_session_id: '' }),
  };
}

function sendOutput(streamId: string, from: number, socket: Socket): void {
  let offset = 0;
  for (const [channel, text] of OUTPUT) {
    const data = Buffer.from(text);
    if (offset >= from) socket.emit('stream_data', { stream_id: streamId, offset, channel, data });
    offset += data.length;
  }
  socket.emit('stream_end', { stream_id: streamId, end_offset: offset, exit_code: 0, reason: 'exited' });
}

/** Answers a prompt word by word. */
function stream(project: Project, runId: string, prompt: string, io: SocketServer): void {
  const { story } = project;
  const seen = story.events.length;
  story.user(prompt, runId);
  for (const event of story.events.slice(seen)) io.emit('event', event);
  const messageId = `msg_${nextId()}`;
  const words = `You said: **${prompt}**\n\n${'This is a streamed answer of the fixture server. '.repeat(12)}`.split(
    /(?<= )/,
  );
  let offset = 0;
  const timer = setInterval(() => {
    const text = words.shift();
    if (text !== undefined) {
      const ids = { project_id: story.projectId, run_id: runId, message_id: messageId };
      io.emit('delta', { ...ids, block_index: 0, block_type: 'text', offset, text });
      offset += text.length;
      return;
    }
    clearInterval(timer);
    const from = story.events.length;
    story.blocks(runId, messageId, 0, { type: 'text', text: `You said: **${prompt}**` });
    story.result(runId, 0.002);
    for (const event of story.events.slice(from)) io.emit('event', event);
  }, 40);
}

function hello() {
  const user = { user_id: '0197f000-0000-7000-8000-000000000001', name: 'Grace', is_admin: true };
  const limits = {
    max_frame_bytes: 1_048_576,
    max_message_kb: 1024,
    max_prompt_bytes: 524_288,
    run_timeout_ms: 300_000,
  };
  const server = { version: '0.1.0', protocol: { min: 1, max: 1 }, server_time: new Date().toISOString() };
  return {
    ...server,
    user,
    limits: { ...limits, run_timeout_max_ms: 3_600_000 },
    demo_model: true,
    project_roots: [ROOT],
  };
}

function serveFiles(): Server {
  return createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    const file = join(DIST, path === '/' ? 'index.html' : path.replaceAll('..', ''));
    access(file).then(
      () => {
        response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream');
        createReadStream(file).pipe(response);
      },
      () => response.writeHead(404).end(),
    );
  });
}

/** Starts on a port of 127.0.0.1 (0: a free one) and gives the address and how to end it. */
export async function startFixture(port = 0): Promise<{ url: string; token: string; close: () => Promise<void> }> {
  const http = serveFiles();
  const io = new SocketServer(http);
  const handlers = handlersOf(makeProjects(), io);
  io.use((socket, next) => {
    const { token } = socket.handshake.auth as { token?: unknown };
    if (token === TOKEN) return next();
    const refusal = new Refusal('auth.token_invalid', 'unauthenticated', 'The token is not valid.');
    next(Object.assign(refusal, { data: errorObject(refusal) }));
  });
  io.on('connection', (socket) => {
    socket.emit('hello', hello());
    socket.onAny((event: string, payload: Record<string, unknown>, ack: Ack) => {
      try {
        const handle = handlers[event];
        if (handle === undefined)
          throw new Refusal('feature.not_available', 'invalid', 'The fixture does not do that.');
        ack({ ok: true, data: handle(payload, socket) });
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        ack({ ok: false, error: errorObject(error) });
      }
    });
  });
  await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
  const address = http.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  return { url: `http://127.0.0.1:${bound}`, token: TOKEN, close: () => io.close() };
}

if (import.meta.main) {
  const { url, token } = await startFixture(17399);
  process.stdout.write(`${url} ${token}\n`);
}
