// Questions to people: one row per tool use, one answer, and nothing reaches the agent that no person said.
import type { NewPermissionRequest, PermissionAnswer, PermissionRecord } from '#domain';
import { AppError } from '#kernel';
import { createLogger } from '#observability';
import type { RunContext } from '../runs/run-driver.port.js';
import { PermissionDesk } from './permission-desk.js';

const announcement = { projectId: 'p', events: [], dispatches: [], wakeHostIds: [] };
const committed = <T>(result: T) => ({ result, announcement });

/** The database as far as questions go, and the run's clock and slot, each step written down. */
class Stage {
  readonly log: string[] = [];
  readonly failures: unknown[] = [];
  readonly records = new Map<string, PermissionRecord>();
  readonly answers = new Map<string, PermissionAnswer>();
  listener: () => void = () => undefined;
  readonly stop = new AbortController();
  openFails: AppError | undefined;
  parked = false;

  readonly store = {
    openPermission: async (request: NewPermissionRequest) => {
      if (this.openFails !== undefined) throw this.openFails;
      const known = this.records.get(request.toolUseId);
      if (known === undefined) this.log.push(`ask ${request.toolUseId}`);
      const record: PermissionRecord = known ?? { ...recordOf(request), projectId: 'p' };
      this.records.set(request.toolUseId, record);
      return committed(record);
    },
    cancelPermission: async (_fence: unknown, requestId: string) => {
      this.log.push(`cancel ${this.#toolUseOf(requestId)}`);
      return committed(undefined);
    },
    resumeRun: async () => {
      if (this.parked) return committed(false);
      this.log.push('resume');
      return committed(true);
    },
    isParked: async () => this.parked,
    answerOf: async (requestId: string) => this.answers.get(this.#toolUseOf(requestId)),
  };
  readonly questions = { openOf: async () => [...this.records.values()].filter(({ status }) => status === 'open') };

  context(status: 'running' | 'waiting' | 'parked' = 'running'): RunContext {
    return {
      claimed: { run: { projectId: 'p', status, waitReason: null } },
      fence: { runId: 'r', runEpoch: 1 },
      stop: this.stop.signal,
      logger: createLogger({ service: 'test', level: 'fatal' }),
      activeTime: { suspend: () => this.log.push('clock stops'), resume: () => this.log.push('clock runs') },
      releaseSlot: () => this.log.push('slot free'),
      takeSlot: async () => void this.log.push('slot taken'),
      onAnswers: (listener: () => void) => {
        this.listener = listener;
        return () => undefined;
      },
      announce: async ({ result }: { result: unknown }) => result,
    } as unknown as RunContext;
  }

  desk(status: 'running' | 'waiting' | 'parked' = 'running'): PermissionDesk {
    return new PermissionDesk({
      store: this.store,
      questions: this.questions,
      context: this.context(status),
      processId: 'x',
      flush: async () => void this.log.push('flush'),
      fail: (error) => this.failures.push(error),
    });
  }

  answer(toolUseId: string, answer: PermissionAnswer): void {
    this.answers.set(toolUseId, answer);
    this.listener();
  }

  #toolUseOf(requestId: string): string {
    return [...this.records.values()].find((record) => record.requestId === requestId)?.toolUseId ?? '?';
  }
}

const recordOf = (request: NewPermissionRequest): Omit<PermissionRecord, 'projectId'> => ({
  ...request,
  sessionId: 's',
  status: 'open',
  answer: null,
  answeredBy: null,
  answeredVia: null,
  expiresAt: null,
  createdAt: new Date(),
  closedAt: null,
});
const question = (toolUseId: string, suggestions: unknown[] = []) => ({
  toolUseId,
  toolName: 'Bash',
  input: { command: 'ls', description: 'x' },
  suggestions,
});
const kept = () => new AbortController().signal;
/** Lets everything that can happen happen. */
const calm = () => new Promise((resolve) => setImmediate(resolve));

describe('PermissionDesk', () => {
  it('AGT-22 waits for a person with slot and clock free, and takes them back before the agent hears the answer', async () => {
    const stage = new Stage();
    const decided = stage.desk().decide(question('t1'), kept());
    await calm();
    expect(stage.log).toEqual(['flush', 'ask t1', 'clock stops', 'slot free']);
    stage.answer('t1', { behavior: 'allow' });
    expect(await decided).toMatchObject({ behavior: 'allow', updatedInput: { command: 'ls', description: 'x' } });
    expect(stage.log.slice(4)).toEqual(['slot taken', 'resume', 'clock runs']);
  });

  it('AGT-22 passes on the changed input and a denial with its reason', async () => {
    const stage = new Stage();
    const desk = stage.desk();
    const allowed = desk.decide(question('t1'), kept());
    await calm();
    stage.answer('t1', { behavior: 'allow', updatedInput: { command: 'ls -l' } });
    expect(await allowed).toMatchObject({ updatedInput: { command: 'ls -l' } });
    const denied = desk.decide(question('t2'), kept());
    await calm();
    stage.answer('t2', { behavior: 'deny', message: 'not today' });
    expect(await denied).toEqual({ behavior: 'deny', message: 'not today' });
  });

  it('AGT-23 hashes the input whatever the order of its keys', async () => {
    const stage = new Stage();
    const desk = stage.desk();
    void desk.decide(question('t1'), kept());
    void desk.decide({ ...question('t2'), input: { description: 'x', command: 'ls' } }, kept());
    await calm();
    const [first, second] = [...stage.records.values()];
    expect(first?.inputHash).toMatch(/^[0-9a-f]{64}$/);
    expect(second?.inputHash).toBe(first?.inputHash);
  });

  it('AGT-22 keeps several questions apart; the run goes on with the last answer', async () => {
    const stage = new Stage();
    const desk = stage.desk();
    const first = desk.decide(question('t1'), kept());
    const second = desk.decide(question('t2'), kept());
    await calm();
    stage.answer('t2', { behavior: 'allow' });
    expect(await second).toMatchObject({ behavior: 'allow' });
    expect(stage.log).not.toContain('resume');
    stage.answer('t1', { behavior: 'deny', message: 'no' });
    expect(await first).toMatchObject({ behavior: 'deny' });
    expect(stage.log.filter((step) => step === 'resume')).toHaveLength(1);
  });

  it('AGT-24 gives an answer that was given before at once', async () => {
    const stage = new Stage();
    const request = { ...question('t1'), requestId: 'q1', processId: 'x', inputHash: 'h', runId: 'r', runEpoch: 1 };
    const answered = { ...recordOf(request), projectId: 'p', status: 'answered' as const };
    stage.records.set('t1', { ...answered, answer: { behavior: 'deny', message: 'earlier' } });
    expect(await stage.desk('waiting').decide(question('t1'), kept())).toEqual({
      behavior: 'deny',
      message: 'earlier',
    });
    expect(stage.log).toEqual(['clock stops', 'slot free', 'flush', 'slot taken', 'resume', 'clock runs']);
  });

  it('AGT-25 accepts only suggestions that the agent offered', async () => {
    const stage = new Stage();
    const offered = { type: 'addRules', rules: [{ toolName: 'Bash' }], behavior: 'allow', destination: 'session' };
    const smuggled = { type: 'setMode', mode: 'bypassPermissions', destination: 'session' };
    const decided = stage.desk().decide(question('t1', [offered]), kept());
    await calm();
    stage.answer('t1', { behavior: 'allow', suggestions: [smuggled, { ...offered }] });
    expect(await decided).toMatchObject({ acceptedSuggestions: [offered] });
  });

  it('AGT-26 closes a question that the agent withdrew, and the run goes on', async () => {
    const stage = new Stage();
    const withdrawn = new AbortController();
    const decided = stage.desk().decide(question('t1'), withdrawn.signal);
    await calm();
    withdrawn.abort();
    expect(await decided).toMatchObject({ behavior: 'deny' });
    expect(stage.log.slice(4)).toEqual(['cancel t1', 'slot taken', 'resume', 'clock runs']);
  });

  it('AGT-26 closes what was withdrawn while nobody listened, and resumes a run that waits for nothing', async () => {
    const stage = new Stage();
    const desk = stage.desk('waiting');
    stage.records.set('gone', {
      ...recordOf({ ...question('gone'), requestId: 'q', processId: 'x', inputHash: 'h', runId: 'r', runEpoch: 1 }),
      projectId: 'p',
    });
    await desk.reconcile([]);
    expect(stage.log).toEqual(['clock stops', 'slot free', 'cancel gone', 'slot taken', 'resume', 'clock runs']);
  });

  it('AGT-26 leaves what is open to the end of a run that is being stopped', async () => {
    const stage = new Stage();
    const withdrawn = new AbortController();
    void stage.desk().decide(question('t1'), withdrawn.signal);
    await calm();
    stage.stop.abort();
    withdrawn.abort();
    await calm();
    expect(stage.log).toEqual(['flush', 'ask t1', 'clock stops', 'slot free']);
  });

  it('APR-11 keeps the answer of a run that was parked until it has its lane back', async () => {
    const stage = new Stage();
    const heard: unknown[] = [];
    const decided = stage.desk().decide(question('t1'), kept());
    void decided.then((decision) => heard.push(decision));
    await calm();
    stage.parked = true;
    stage.answer('t1', { behavior: 'allow' });
    await calm();
    stage.listener();
    await calm();
    expect(heard).toEqual([]);
    expect(stage.log).not.toContain('slot taken');
    stage.parked = false;
    stage.listener();
    expect(await decided).toMatchObject({ behavior: 'allow' });
    expect(stage.log.slice(4)).toEqual(['slot taken', 'resume', 'clock runs']);
  });

  it('APR-11 gives an answer of before to a run that is taken over parked when it has its lane back, and not earlier', async () => {
    const stage = new Stage();
    stage.parked = true;
    const request = { ...question('t1'), requestId: 'q1', processId: 'x', inputHash: 'h', runId: 'r', runEpoch: 1 };
    const answered = { ...recordOf(request), projectId: 'p', status: 'answered' as const };
    stage.records.set('t1', { ...answered, answer: { behavior: 'deny', message: 'earlier' } });
    const heard: unknown[] = [];
    const decided = stage.desk('parked').decide(question('t1'), kept());
    void decided.then((decision) => heard.push(decision));
    await calm();
    expect(heard).toEqual([]);
    stage.parked = false;
    stage.listener();
    expect(await decided).toEqual({ behavior: 'deny', message: 'earlier' });
  });

  it('AGT-27 never answers by itself: not after a failure, not after it was closed', async () => {
    const stage = new Stage();
    const desk = stage.desk();
    const heard: unknown[] = [];
    stage.openFails = new AppError('service.unavailable', 'away');
    void desk.decide(question('t1'), kept()).then((decision) => heard.push(decision));
    await calm();
    expect(stage.failures).toEqual([stage.openFails]);
    stage.openFails = undefined;
    void desk.decide(question('t2'), kept()).then((decision) => heard.push(decision));
    await calm();
    desk.close();
    stage.answer('t2', { behavior: 'allow' });
    await calm();
    expect(heard).toEqual([]);
  });
});
