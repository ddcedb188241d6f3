// Who may do what, for every event of the catalogue and every role.
import type { PermissionRecord, ProjectRecord, RunRecord, SessionRecord } from '#domain';
import { ROLES, type Role } from '#kernel';
import { CLIENT_EVENTS, type ClientEventName } from '#protocol';
import { AccessPolicy, SCOPE_FIELDS, scopeOf } from './access.js';

const PROJECT = '0190f3a4-0000-7000-8000-000000000001';
const RUN = '0190f3a4-0000-7000-8000-000000000002';
const QUESTION = '0190f3a4-0000-7000-8000-000000000003';
const SESSION = '0190f3a4-0000-7000-8000-000000000004';
const OTHER = '0190f3a4-0000-7000-8000-00000000ffff';

const policyFor = (role: Role | undefined) =>
  new AccessPolicy({
    projects: {
      find: async (id) => (id === PROJECT ? ({ projectId: PROJECT } as ProjectRecord) : undefined),
      roleOf: async () => role,
    },
    runs: {
      find: async (id) => (id === RUN ? ({ projectId: PROJECT } as RunRecord) : undefined),
      findSession: async (id) => (id === SESSION ? ({ projectId: PROJECT } as SessionRecord) : undefined),
    },
    permissions: { find: async (id) => (id === QUESTION ? ({ projectId: PROJECT } as PermissionRecord) : undefined) },
  });

const user = { userId: 'u', name: 'n', isAdmin: false };
const admin = { ...user, isAdmin: true };
const ids = {
  project_id: PROJECT,
  run_id: RUN,
  stream_id: RUN,
  command_session_id: `cmd-${RUN}`,
  request_id: QUESTION,
  session_id: SESSION,
};

/** The field that an event's payload must have, read from its schema. */
function fieldOf(event: ClientEventName): (typeof SCOPE_FIELDS)[number] | undefined {
  const { shape } = CLIENT_EVENTS[event].request as unknown as {
    shape: Record<string, { safeParse: (v: unknown) => { success: boolean } }>;
  };
  return SCOPE_FIELDS.find((field) => shape[field] !== undefined && !shape[field].safeParse(undefined).success);
}

const projectEvents = (Object.keys(CLIENT_EVENTS) as ClientEventName[]).filter(
  (event) => CLIENT_EVENTS[event].role !== 'user',
);

describe.each(projectEvents)('GW-8 %s', (event) => {
  const field = fieldOf(event);
  const request = { [field ?? 'none']: ids[field ?? 'project_id'] };
  const needed = CLIENT_EVENTS[event].role as Role;

  it('GW-8 names what it is about in a field that it always has', () => {
    expect(field).toBeDefined();
    expect(scopeOf(request)?.field).toBe(field);
  });

  it.each(ROLES)('GW-8 is given to those whose role suffices: %s', async (role) => {
    const asked = policyFor(role).authorize(event, request, user);
    if (ROLES.indexOf(role) <= ROLES.indexOf(needed)) await expect(asked).resolves.toMatchObject({ role });
    else await expect(asked).rejects.toMatchObject({ code: 'auth.forbidden', details: { role, needed } });
  });

  it('GW-8 does not exist for somebody without a role, and for a wrong id', async () => {
    const codes: unknown[] = [];
    const unknownId = { [field ?? 'none']: field === 'command_session_id' ? `cmd-${OTHER}` : OTHER };
    for (const [role, asked] of [
      [undefined, request],
      ['owner', unknownId],
    ] as const) {
      codes.push(
        await policyFor(role)
          .authorize(event, asked, user)
          .catch((error: unknown) => error),
      );
    }
    expect(codes).toEqual([
      expect.objectContaining({ kind: 'not_found' }),
      expect.objectContaining({ kind: 'not_found' }),
    ]);
  });

  it('GW-8 is given to an administrator', async () => {
    await expect(policyFor(undefined).authorize(event, request, admin)).resolves.toMatchObject({ role: 'owner' });
  });
});

it('GW-8 asks for nothing where any user will do', async () => {
  await expect(policyFor(undefined).authorize('project_list', {}, user)).resolves.toBeUndefined();
});

it('GW-8 believes what was granted for a second where a client paces a stream, and nowhere else', async () => {
  let now = 0;
  let asked = 0;
  const role = { current: 'viewer' as Role | undefined };
  const policy = new AccessPolicy(
    {
      projects: {
        find: async () => ({ projectId: PROJECT }) as ProjectRecord,
        roleOf: async () => {
          asked += 1;
          return role.current;
        },
      },
      runs: { find: async () => ({ projectId: PROJECT }) as RunRecord, findSession: async () => undefined },
      permissions: { find: async () => undefined },
    },
    { now: () => new Date(now), monotonicMs: () => now },
  );
  const ack = () => policy.authorize('stream_ack', { stream_id: RUN, acked_offset: 1 }, user);
  await ack();
  now = 999;
  await ack();
  expect(asked).toBe(1);
  role.current = undefined;
  now = 1000;
  await expect(ack()).rejects.toMatchObject({ code: 'stream.not_found' });
  await expect(policy.authorize('stream_subscribe', { stream_id: RUN }, user)).rejects.toMatchObject({
    code: 'stream.not_found',
  });
});
