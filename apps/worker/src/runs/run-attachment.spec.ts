import type { Committed, Dispatch, RunControlStore, RunOutcome, RunRecord, SandboxConnection } from '#domain';
import { AppError, type ErrorCode, newId, systemClock } from '#kernel';
import { createLogger, createMetrics } from '#observability';
import type { AttachmentParts } from './attachment-parts.js';
import { RunAttachment } from './run-attachment.js';
import { DetachedError, type RunContext, type StopReason } from './run-driver.port.js';
import { RunSlots } from './run-slots.js';

type Drive = (context: RunContext, attempt: number) => Promise<RunOutcome>;

const succeeded: RunOutcome = { status: 'succeeded', exitCode: 0, activeMs: 1, endOffset: 4 };
const away = (code: ErrorCode) => new AppError(code, 'away');
const untilStopped = ({ stop }: RunContext) =>
  new Promise<StopReason>((resolve) => {
    const tell = () => resolve(stop.reason as StopReason);
    if (stop.aborted) tell();
    else stop.addEventListener('abort', tell);
  });

/** One run in a store of its own, a driver that does as told, and all that was asked of either. */
class Fixture {
  readonly run = {
    runId: newId(),
    projectId: newId(),
    sessionId: null,
    kind: 'command',
    status: 'dispatched',
    epoch: 0,
    processId: null,
    startedAt: null,
    queuedAt: new Date(),
    activeMs: 0,
    timeoutMs: 60_000,
    errorCode: null,
    exitCode: null,
    costUsd: null,
    correlationId: newId(),
  } as unknown as RunRecord;
  readonly dispatch: Dispatch = { ...this.run, hostId: newId(), dispatchNo: 1 };
  readonly slots = new RunSlots(1);
  readonly log: string[] = [];
  readonly outcomes: RunOutcome[] = [];
  readonly abandoned: string[] = [];
  readonly lines: Record<string, unknown>[] = [];
  readonly frames: unknown[] = [];
  readonly noted: { runEpoch: number; activeMs: number }[] = [];
  control: RunControlStore = {
    applyIntent: async (_fence, intentId) => void this.log.push(`applied ${intentId}`),
    pauseRun: async () => this.committed(true),
    continueRun: async () => this.committed(this.run),
    wasAsked: async () => false,
    noteActiveTime: async ({ runEpoch }, activeMs) => {
      this.noted.push({ runEpoch, activeMs });
    },
    waitingInput: async () => [],
    inputWritten: async () => undefined,
  };
  connect: () => Promise<SandboxConnection> = async () => ({}) as SandboxConnection;
  finish: () => void = () => undefined;
  drives = 0;

  constructor(private readonly drive: Drive) {}

  attach(more: Partial<AttachmentParts> = {}): RunAttachment {
    return new RunAttachment({ ...this.parts(), ...more }, this.dispatch);
  }

  private committed<T>(result: T): Committed<T> {
    return { result, announcement: { projectId: this.run.projectId, events: [], dispatches: [], wakeHostIds: [] } };
  }

  private parts(): AttachmentParts {
    const { run } = this;
    const executions: Partial<AttachmentParts['executions']> = {
      claim: async () => {
        const resumed = run.status !== 'dispatched';
        this.log.push(resumed ? 'claim again' : 'claim');
        const status = resumed ? run.status : 'running';
        Object.assign(run, { status, epoch: run.epoch + 1, startedAt: run.startedAt ?? new Date() });
        const process = run.processId === null ? null : { processId: run.processId };
        return this.committed({ run: { ...run }, resumed, process, warmProcess: null, sandboxId: 's' } as never);
      },
      finish: async (fence, outcome) => {
        this.finish();
        if (fence.runEpoch !== run.epoch) throw away('write.fenced');
        this.outcomes.push(outcome);
        if (outcome.abandonsProcess === true && run.processId !== null) this.abandoned.push(run.processId);
        const { endOffset = null, exitCode = null, activeMs } = outcome;
        Object.assign(run, { status: outcome.status, endOffset, exitCode, activeMs });
        return this.committed({ ...run, errorCode: outcome.error?.code ?? null });
      },
    };
    const destination = { write: (line: string) => void this.lines.push(JSON.parse(line) as Record<string, unknown>) };
    return {
      lease: { hostId: this.dispatch.hostId, holderId: newId(), epoch: 1 },
      executions: executions as AttachmentParts['executions'],
      control: this.control,
      runs: { find: async () => run },
      announcer: { announce: async () => undefined },
      bus: { publish: (_project, frame) => this.frames.push(frame) },
      sandboxes: {
        connect: async () => {
          this.log.push('connect');
          return this.connect();
        },
      },
      drivers: {
        command: {
          drive: async (context) => {
            this.log.push('drive');
            this.drives += 1;
            return this.drive(context, this.drives);
          },
        },
        prompt: { drive: async () => Promise.reject(new Error('no prompt here')) },
        compact: { drive: async () => Promise.reject(new Error('no compaction here')) },
      },
      slots: this.slots,
      bounds: { firstMs: 1, mostMs: 2, sandboxMs: 30, serviceMs: 10_000 },
      clock: systemClock,
      logger: createLogger({ service: 'test', level: 'info', destination }),
      metrics: createMetrics({ service: 'test', processMetrics: false }),
    };
  }
}

describe('RunAttachment', () => {
  it('ENG-26, ENG-34 claims, drives and finishes a run, with one wide line and a last frame', async () => {
    const fixture = new Fixture(async (context) => {
      context.noteFirstOutput();
      return succeeded;
    });
    await fixture.attach().done;
    expect(fixture.log).toEqual(['claim', 'connect', 'drive']);
    expect(fixture.outcomes).toEqual([succeeded]);
    expect(fixture.lines.filter(({ msg }) => msg === 'run finished')).toEqual([
      expect.objectContaining({ run_id: fixture.run.runId, status: 'succeeded', exit_code: 0, error_code: null }),
    ]);
    expect(fixture.frames).toMatchObject([{ output: { ended: true } }]);
    expect(fixture.slots.inUse).toBe(0);
  });

  it('ENG-24 attaches anew, under a new epoch, when the sandbox was away for a moment', async () => {
    const epochs: number[] = [];
    const fixture = new Fixture(async ({ fence }, attempt) => {
      epochs.push(fence.runEpoch);
      if (attempt < 3) throw away('sandbox.connection_lost');
      return succeeded;
    });
    // It must not run out of patience on a busy machine.
    const bounds = { firstMs: 1, mostMs: 2, sandboxMs: 10_000, serviceMs: 10_000 };
    await fixture.attach({ bounds }).done;
    expect(epochs).toEqual([1, 2, 3]);
    expect(fixture.outcomes).toEqual([succeeded]);
    expect(fixture.abandoned).toEqual([]);
  });

  it('ENG-24 ends a run honestly when its sandbox stays away, and leaves its process to reconciling', async () => {
    const fixture = new Fixture(async () => {
      fixture.run.processId = 'p';
      throw away('sandbox.connection_lost');
    });
    await fixture.attach().done;
    expect(fixture.outcomes).toMatchObject([{ status: 'failed', error: { code: 'sandbox.lost' } }]);
    expect(fixture.abandoned).toEqual(['p']);
    expect(fixture.slots.inUse).toBe(0);
  });

  it('ENG-24 ends a run at once over what trying again cannot cure', async () => {
    const fixture = new Fixture(async () => succeeded);
    fixture.connect = async () => Promise.reject(away('sandbox.image_missing'));
    await fixture.attach().done;
    expect(fixture.log).toEqual(['claim', 'connect']);
    expect(fixture.outcomes).toMatchObject([{ status: 'failed', error: { code: 'sandbox.image_missing' } }]);
  });

  it('ENG-24 finishes a run as soon as Postgres is back: the outcome stands', async () => {
    const fixture = new Fixture(async () => succeeded);
    let tries = 0;
    fixture.finish = () => {
      tries += 1;
      if (tries < 3) throw away('service.unavailable');
    };
    await fixture.attach().done;
    expect(fixture.outcomes).toEqual([succeeded]);
    expect(fixture.drives).toBe(1);
  });

  it.each<ErrorCode>(['write.fenced', 'sandbox.epoch_stale', 'host.lease_lost'])(
    'ENG-28 lets go of a run at %s: it neither finishes it nor its process',
    async (code) => {
      const fixture = new Fixture(async () => Promise.reject(away(code)));
      await fixture.attach().done;
      expect(fixture.drives).toBe(1);
      expect(fixture.outcomes).toEqual([]);
      expect(fixture.abandoned).toEqual([]);
      expect(fixture.slots.inUse).toBe(0);
    },
  );

  it('ENG-28 does not count what it finished too late', async () => {
    const fixture = new Fixture(async () => {
      fixture.run.epoch += 1; // another worker has claimed it meanwhile
      return succeeded;
    });
    await fixture.attach().done;
    expect(fixture.outcomes).toEqual([]);
    expect(fixture.lines.filter(({ msg }) => msg === 'run finished')).toEqual([]);
  });

  it('ENG-14 lets go when told to, whatever the driver is at', async () => {
    const fixture = new Fixture(async (context) => {
      expect(await untilStopped(context)).toEqual({ kind: 'detach' });
      throw new DetachedError();
    });
    const attachment = fixture.attach();
    while (fixture.drives === 0) await new Promise((resolve) => setImmediate(resolve));
    attachment.detach();
    await attachment.done;
    expect(fixture.outcomes).toEqual([]);
    expect(fixture.noted).toEqual([{ runEpoch: 1, activeMs: expect.any(Number) as number }]);
  });

  it('ENG-14 lets go while it waits for a sandbox that is away, and while it waits for a slot', async () => {
    const waiting = new Fixture(async () => succeeded);
    waiting.connect = async () => Promise.reject(away('host.engine_unreachable'));
    const attachment = waiting.attach();
    while (waiting.log.length < 3) await new Promise((resolve) => setImmediate(resolve));
    attachment.detach();
    await attachment.done;
    expect(waiting.outcomes).toEqual([]);

    const queued = new Fixture(async () => succeeded);
    queued.slots.takeNow();
    const behind = queued.attach();
    behind.detach();
    await behind.done;
    expect(queued.log).toEqual([]);
  });

  it('ENG-27 ends a run that was stopped before it started without a sandbox', async () => {
    const fixture = new Fixture(async () => succeeded);
    fixture.slots.takeNow();
    const attachment = fixture.attach();
    attachment.stop({ kind: 'cancel', by: newId() });
    await attachment.done;
    expect(fixture.log).toEqual(['claim']);
    expect(fixture.outcomes).toMatchObject([{ status: 'cancelled', error: { code: 'run.cancelled' } }]);
  });

  it('ENG-27 does not wait for a sandbox that never comes up, when it is stopped or let go meanwhile', async () => {
    for (const leave of ['stop', 'detach'] as const) {
      const fixture = new Fixture(async () => succeeded);
      fixture.connect = () => new Promise(() => undefined);
      const attachment = fixture.attach();
      while (fixture.log.length < 2) await new Promise((resolve) => setImmediate(resolve));
      if (leave === 'stop') attachment.stop({ kind: 'cancel', by: newId() });
      else attachment.detach();
      await attachment.done;
      expect(fixture.outcomes.map(({ status }) => status)).toEqual(leave === 'stop' ? ['cancelled'] : []);
    }
  });

  it('ENG-25 ends a run as cancelled though its sandbox can not be reached any more', async () => {
    const fixture = new Fixture(async () => {
      fixture.run.processId = 'p';
      throw away('sandbox.connection_lost');
    });
    const bounds = { firstMs: 1, mostMs: 2, sandboxMs: 500, serviceMs: 10_000 };
    const attachment = fixture.attach({ bounds });
    while (fixture.drives < 2) await new Promise((resolve) => setImmediate(resolve));
    attachment.stop({ kind: 'cancel', by: newId() });
    await attachment.done;
    expect(fixture.outcomes).toMatchObject([{ status: 'cancelled' }]);
    expect(fixture.abandoned).toEqual(['p']);
  });

  it('ENG-21 gives its slot up while people are asked, and takes it again', async () => {
    const used: number[] = [];
    const fixture = new Fixture(async (context) => {
      used.push(fixture.slots.inUse);
      context.activeTime.suspend();
      context.releaseSlot();
      used.push(fixture.slots.inUse);
      await context.takeSlot();
      used.push(fixture.slots.inUse);
      return succeeded;
    });
    await fixture.attach().done;
    expect([...used, fixture.slots.inUse]).toEqual([1, 0, 1, 0]);
  });

  it.each([
    ['running', 2],
    ['waiting', 1],
  ] as const)('ENG-21 takes over a run that is %s at once, though no slot is free', async (status, slots) => {
    let used = 0;
    const fixture = new Fixture(async () => {
      used = fixture.slots.inUse;
      return succeeded;
    });
    Object.assign(fixture.run, { status, startedAt: new Date() });
    fixture.slots.takeNow();
    await fixture.attach().done;
    expect(used).toBe(slots);
    expect(fixture.outcomes).toEqual([succeeded]);
  });

  it('ENG-22 stops a run whose time is up, counting what an earlier worker counted', async () => {
    const fixture = new Fixture(async (context) => {
      const { kind } = await untilStopped(context);
      return { ...succeeded, status: kind === 'timeout' ? 'timed_out' : 'failed' };
    });
    Object.assign(fixture.run, { timeoutMs: 1_000, activeMs: 990 });
    await fixture.attach().done;
    expect(fixture.outcomes).toMatchObject([{ status: 'timed_out' }]);
  });

  it('ENG-22 does not count for a run that waits for a person until it is at work again', async () => {
    const times: number[] = [];
    let now = 0;
    const fixture = new Fixture(async ({ activeTime }) => {
      now = 2_000;
      times.push(activeTime.elapsedMs());
      activeTime.resume();
      now = 2_030;
      times.push(activeTime.elapsedMs());
      return succeeded;
    });
    const clock = { ...systemClock, monotonicMs: () => now };
    Object.assign(fixture.run, { status: 'waiting', startedAt: new Date(), activeMs: 500 });
    await fixture.attach({ clock }).done;
    expect(times).toEqual([500, 530]);
  });

  it('ENG-20 leaves a run alone that is over or was dispatched anew', async () => {
    const fixture = new Fixture(async () => succeeded);
    const attachment = fixture.attach({
      executions: { claim: async () => undefined } as unknown as AttachmentParts['executions'],
    });
    await attachment.done;
    expect(fixture.drives).toBe(0);
    expect(fixture.slots.inUse).toBe(0);
  });
});
