// Whatever the stores are asked to do, in whatever order: each step of a run's status is in the transition table.
import fc from 'fast-check';
import { canTransition, type ClaimedRun } from '#domain';
import { newId, type RunStatus } from '#kernel';
import {
  claimFirst,
  createFixture,
  createProject,
  fenceOf,
  newCommand,
  newPrompt,
  type Fixture,
} from './persistence-fixture.js';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
  const { client } = fixture.database.db;
  await client.$executeRawUnsafe('CREATE TABLE step (was text, became text)');
  await client.$executeRawUnsafe(`CREATE FUNCTION note_step() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF OLD.status <> NEW.status THEN INSERT INTO step VALUES (OLD.status, NEW.status); END IF; RETURN NEW; END $$`);
  await client.$executeRawUnsafe(
    'CREATE TRIGGER note_step AFTER UPDATE ON run FOR EACH ROW EXECUTE FUNCTION note_step()',
  );
});
afterAll(async () => {
  await fixture.database.close();
});

const OPERATIONS = [
  'prompt',
  'command',
  'claim',
  'ask',
  'answer',
  'park',
  'resume',
  'finish',
  'cancel',
  'reconcile',
  'lane',
] as const;
const step = fc.record({ what: fc.constantFrom(...OPERATIONS), pick: fc.nat(20) });

/** So that both are tried, whatever the seed. */
const PARKED_AND_BACK = (['prompt', 'claim', 'ask', 'park', 'answer', 'resume', 'finish'] as const).map((what) => ({
  what,
  pick: 1,
}));

/** One project under random operations; what the stores refuse is refused. */
class Play {
  private readonly claimed: ClaimedRun[] = [];
  private paused = false;

  constructor(readonly projectId: string) {}

  async do({ what, pick }: { what: (typeof OPERATIONS)[number]; pick: number }): Promise<void> {
    await this.operations[what](pick, this.claimed[pick % Math.max(1, this.claimed.length)]);
  }

  private readonly operations: Record<
    (typeof OPERATIONS)[number],
    (pick: number, claimed?: ClaimedRun) => Promise<unknown>
  > = {
    prompt: (pick) =>
      fixture.runs.enqueuePrompt(newPrompt(fixture, this.projectId, pick % 3 === 0 ? { priority: 'next' } : {})),
    command: (pick) =>
      fixture.runs.enqueueCommand(newCommand(fixture, this.projectId, pick % 3 === 0 ? { lane: 'side' } : {})),
    claim: () => this.claim(),
    ask: async (_, claimed) => (claimed?.run.kind === 'prompt' ? this.ask(claimed) : undefined),
    answer: async () => {
      const [open] = await fixture.permissions.openOf(this.projectId);
      const { userId } = fixture;
      if (open === undefined) return;
      await fixture.permissions.answer(open.requestId, { behavior: 'allow', inputHash: 'h', userId });
    },
    park: () => fixture.execution.closeOverdue(fixture.lease.hostId, { parkAfterMs: 1 }),
    resume: async (_, claimed) => (claimed === undefined ? undefined : fixture.execution.resumeRun(fenceOf(claimed))),
    finish: async (_, claimed) =>
      claimed === undefined
        ? undefined
        : fixture.execution.finish(fenceOf(claimed), { status: 'succeeded', activeMs: 1 }),
    cancel: async (pick) => {
      const { items } = await fixture.runs.list(this.projectId, { status: 'queued' }, { limit: 50 });
      const run = items[pick % Math.max(1, items.length)]?.run;
      if (run !== undefined) await fixture.runs.cancel(run.runId, fixture.userId);
    },
    reconcile: () => fixture.execution.promoteFreeLanes(fixture.lease.hostId),
    lane: () => {
      this.paused = !this.paused;
      const change = this.paused ? fixture.runs.pauseLane : fixture.runs.resumeLane;
      return change.call(fixture.runs, this.projectId, 'main', fixture.userId);
    },
  };

  private async claim(): Promise<void> {
    for (const { runId, dispatchNo } of await fixture.execution.activeRuns(fixture.lease.hostId, this.projectId)) {
      const known = this.claimed.findIndex(({ run }) => run.runId === runId);
      const claimed = await claimFirst(fixture, runId, dispatchNo);
      if (known === -1) this.claimed.push(claimed);
      else this.claimed[known] = claimed;
    }
  }

  private async ask(claimed: ClaimedRun): Promise<void> {
    await fixture.execution.openPermission({
      ...fenceOf(claimed),
      requestId: newId(),
      processId: newId(),
      toolUseId: newId(),
      toolName: 'Bash',
      input: {},
      inputHash: 'h',
      suggestions: [],
    });
  }
}

it('QUE-16, DATA-5 moves runs along the table only, whatever is done in whatever order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40, size: 'max' }), async (steps) => {
      const play = new Play((await createProject(fixture)).projectId);
      for (const each of steps) {
        await play.do(each).catch((error: unknown) => {
          expect(error).toMatchObject({ code: expect.stringMatching(/^(write\.fenced|run\.|permission\.)/) as string });
        });
      }
    }),
    { numRuns: 25, examples: [[PARKED_AND_BACK]] },
  );
  const { client } = fixture.database.db;
  const steps = await client.$queryRaw<{ was: RunStatus; became: RunStatus }[]>`SELECT DISTINCT was, became FROM step`;
  expect(steps.filter(({ was, became }) => !canTransition(was, became))).toEqual([]);
  expect(steps).toEqual(
    expect.arrayContaining([
      { was: 'waiting', became: 'parked' },
      { was: 'parked', became: 'waiting' },
    ]),
  );
}, 120_000);
