// What a worker makes of intents: the effect and its record together, again while Postgres is away, and nothing of what it does not know.
import type { IntentRecord, RunControlStore, RunRecord } from '#domain';
import { AppError, type IntentKind, systemClock } from '#kernel';
import { createLogger } from '#observability';
import { RunActiveTime } from './active-time.js';
import { RunControls } from './run-controls.js';
import type { LiveRun, RunContext } from './run-driver.port.js';

class Stage {
  readonly log: string[] = [];
  readonly over = new AbortController();
  readonly activeTime = new RunActiveTime(systemClock, 0);
  pauseResults: (boolean | AppError)[] = [true];
  live: LiveRun | undefined = {
    endsOnInterrupt: true,
    interrupt: async () => void this.log.push('interrupt'),
    configure: async (setting) => void this.log.push(`configure ${JSON.stringify(setting)}`),
  };
  status: RunRecord['status'] = 'running';
  readonly controls: RunControls;

  constructor() {
    const announcement = { projectId: 'p', events: [], dispatches: [], wakeHostIds: [] };
    const store: Partial<RunControlStore> = {
      applyIntent: async (_fence, intentId) => void this.log.push(`applied ${intentId}`),
      pauseRun: async () => {
        const result = this.pauseResults.shift() ?? true;
        if (result instanceof AppError) throw result;
        this.log.push(`paused ${result}`);
        return { result, announcement };
      },
      continueRun: async () => {
        this.log.push('continued');
        return { result: { status: this.status } as RunRecord, announcement };
      },
    };
    this.activeTime.begin([]);
    this.controls = new RunControls({
      store: store as RunControlStore,
      slot: {
        take: async () => void this.log.push('slot taken'),
        takeNow: () => void this.log.push('slot taken now'),
        release: () => void this.log.push('slot free'),
      },
      activeTime: () => this.activeTime,
      stop: ({ kind }) => void this.log.push(`stop ${kind}`),
      ringAnswers: () => void this.log.push('ring'),
      announce: async ({ result }) => result,
      detached: new AbortController().signal,
      logger: createLogger({ service: 'test', level: 'fatal' }),
      interruptMs: 20,
    });
  }

  begin(): this {
    const context = {
      claimed: { run: { runId: 'r', projectId: 'p' }, process: null },
      fence: { runId: 'r', runEpoch: 1 },
      heldProcess: { processId: 'x', processEpoch: 1 },
      stop: new AbortController().signal,
      connection: { signal: async (_id: string, { signal }: { signal: string }) => void this.log.push(signal) },
      ...(this.live === undefined ? {} : { live: this.live }),
    };
    this.controls.begin(context as unknown as RunContext, this.over.signal);
    return this;
  }

  /** Brings an intent, and waits for what comes last of it. */
  async bring(kind: IntentKind, last: string, payload: Record<string, unknown> = {}): Promise<string[]> {
    this.controls.bring({ intentId: 'i', runId: 'r', kind, payload, createdBy: 'u' });
    while (!this.log.includes(last)) await new Promise((resolve) => setImmediate(resolve));
    this.activeTime.close();
    return this.log;
  }
}

describe('RunControls', () => {
  it('SES-7 leaves kinds that it does not know open', () => {
    const intent = { intentId: 'i', runId: 'r', kind: 'dance', payload: {}, createdBy: 'u' } as unknown as IntentRecord;
    expect(new Stage().begin().controls.bring(intent)).toBe(false);
  });

  it('SES-3 holds a run still, stores that, and then gives its slot away', async () => {
    const stage = new Stage().begin();
    expect(await stage.bring('pause', 'slot free')).toEqual(['SIGSTOP', 'paused true', 'slot free']);
    expect(stage.activeTime.heldBy('pause')).toBe(true);
  });

  it('SES-3 tries to store a pause again while Postgres is away, and holds still meanwhile', async () => {
    const stage = new Stage().begin();
    stage.pauseResults = [new AppError('service.unavailable', 'away'), true];
    expect(await stage.bring('pause', 'slot free')).toEqual(['SIGSTOP', 'paused true', 'slot free']);
  });

  it('SES-3 lets a run go on that may not be paused now', async () => {
    const stage = new Stage().begin();
    stage.pauseResults = [false];
    expect(await stage.bring('pause', 'SIGCONT')).toEqual(['SIGSTOP', 'paused false', 'SIGCONT']);
    await new Promise((resolve) => setImmediate(resolve));
    expect(stage.activeTime.heldBy('pause')).toBe(false);
  });

  it('SES-3 takes a slot before it lets a run go on, and gives it back when the run waits for a person', async () => {
    const stage = new Stage().begin();
    stage.status = 'waiting';
    const order = ['slot taken', 'SIGCONT', 'continued', 'slot free', 'ring'];
    expect(await stage.bring('resume', 'ring')).toEqual(order);
  });

  it('SES-2 stops an agent that does not end its turn', async () => {
    expect(await new Stage().begin().bring('interrupt', 'stop interrupt')).toEqual(['interrupt', 'stop interrupt']);
  });

  it('SES-2 records an interrupt that is not the end of a run', async () => {
    const stage = new Stage();
    stage.live = { endsOnInterrupt: false, interrupt: async () => void stage.log.push('INT') };
    expect(await stage.begin().bring('interrupt', 'applied i')).toEqual(['INT', 'applied i']);
  });

  it('SES-2 lets a run that is held still hear the interrupt', async () => {
    const stage = new Stage().begin();
    stage.activeTime.suspend('pause');
    const order = ['slot taken now', 'SIGCONT', 'continued', 'ring', 'interrupt'];
    expect((await stage.bring('interrupt', 'interrupt')).slice(0, 5)).toEqual(order);
    stage.over.abort();
  });

  it('SES-4 changes the agent, then records it', async () => {
    const order = ['configure {"model":"m","permissionMode":null}', 'applied i'];
    const payload = { model: 'm', permission_mode: null };
    expect(await new Stage().begin().bring('setting', 'applied i', payload)).toEqual(order);
  });

  it('SES-7 carries out nothing before the run can be steered', async () => {
    const stage = new Stage();
    stage.live = undefined;
    stage.begin();
    for (const kind of ['pause', 'setting', 'interrupt'] as const) {
      stage.controls.bring({ intentId: kind, runId: 'r', kind, payload: {}, createdBy: 'u' });
    }
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    stage.activeTime.close();
    expect(stage.log).toEqual([]);
  });
});
