// A migrated database with one user, one host and the stores on it.
import { newId } from '#kernel';
import type { ClaimedRun, HostLease, NewCommand, NewPrompt, ProjectRecord, RunFence } from '#domain';
import {
  PgEventStore,
  PgExecutionStore,
  PgHostStore,
  PgOutputStore,
  PgPermissionStore,
  PgProjectStore,
  PgRunStore,
  PgTokenDirectory,
  PgTokenStore,
} from '#persistence';
import { createTestDatabase, type TestDatabase } from '#testing';

/** Bounds that leave out nothing here. */
export const ALL_EVENTS = { limit: 1000, maxBytes: 64 * 1024 * 1024 };

export interface Fixture {
  database: TestDatabase;
  userId: string;
  lease: HostLease;
  projects: PgProjectStore;
  runs: PgRunStore;
  execution: PgExecutionStore;
  events: PgEventStore;
  hosts: PgHostStore;
  output: PgOutputStore;
  permissions: PgPermissionStore;
  tokens: PgTokenStore;
  directory: PgTokenDirectory;
}

export async function createFixture(): Promise<Fixture> {
  const database = await createTestDatabase();
  const { db } = database;
  const hosts = new PgHostStore(db);
  const tokens = new PgTokenStore(db);
  const user = await tokens.bootstrapAdmin('gnt_fixture-token');
  const lease = await hosts.acquire({
    engineId: 'engine-1',
    holderId: newId(),
    leaseMs: 60_000,
    maxRuns: 4,
    projectRoots: ['/srv'],
    info: {},
  });
  if (lease === undefined) throw new Error('the fixture did not get the lease');
  return {
    database,
    userId: user.userId,
    lease,
    hosts,
    tokens,
    projects: new PgProjectStore(db),
    runs: new PgRunStore(db),
    execution: new PgExecutionStore(db),
    events: new PgEventStore(db),
    output: new PgOutputStore(db),
    permissions: new PgPermissionStore(db),
    directory: new PgTokenDirectory(db),
  };
}

export async function createProject(fixture: Fixture, path = `/srv/${newId()}`): Promise<ProjectRecord> {
  const { result } = await fixture.projects.create({
    projectId: newId(),
    userId: fixture.userId,
    hostId: fixture.lease.hostId,
    path,
    name: 'project',
    options: {},
  });
  return result;
}

export const newPrompt = (fixture: Fixture, projectId: string, patch: Partial<NewPrompt> = {}): NewPrompt => ({
  projectId,
  userId: fixture.userId,
  lane: 'main',
  timeoutMs: 300_000,
  correlationId: 'c-1',
  prompt: 'hello',
  options: {},
  ...patch,
});

export const newCommand = (fixture: Fixture, projectId: string, patch: Partial<NewCommand> = {}): NewCommand => ({
  projectId,
  userId: fixture.userId,
  lane: 'main',
  timeoutMs: 300_000,
  correlationId: 'c-1',
  argv: ['echo', 'hi'],
  shellCommand: null,
  workingDir: null,
  ...patch,
});

export const fenceOf = (claimed: ClaimedRun): RunFence => ({
  runId: claimed.run.runId,
  runEpoch: claimed.run.epoch,
});

/** Claims a run that was just dispatched for the first time. */
export async function claimFirst(fixture: Fixture, runId: string, dispatchNo = 1): Promise<ClaimedRun> {
  const committed = await fixture.execution.claim({ runId, dispatchNo }, fixture.lease);
  if (committed === undefined) throw new Error('the claim was stale');
  return committed.result;
}
