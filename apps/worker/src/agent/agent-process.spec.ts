// Which process serves a run: its own, the warm one, or a new one - and that a prompt is given to one process only.
import type { NewProcess, ProcessInfo, ProcessRecord } from '#domain';
import { AppError, newId } from '#kernel';
import type { RunContext } from '../runs/run-driver.port.js';
import type { AgentHost, AgentPlan, AgentSession, AgentStart } from './agent-driver.port.js';
import { RunAgentHost } from './agent-host.js';
import { attachAgent, LostAgentError } from './agent-process.js';
import type { AgentRunParts } from './agent-run.parts.js';
import { sha256 } from './canonical-json.js';

const RUN = 'run-1';
const plan: AgentPlan = {
  fingerprint: 'F',
  cwd: '/workspace',
  model: undefined,
  permissionMode: 'default',
  reusable: true,
};

/** One sandbox, one database and one kind of agent, each step written down. */
class Stage {
  readonly log: string[] = [];
  readonly infos = new Map<string, Partial<ProcessInfo>>();
  readonly rows: NewProcess[] = [];
  started: { argv: string[]; env: Record<string, string> } | undefined;
  agentSessionId: string | null = null;
  process: ProcessRecord | null = null;
  warmProcess: ProcessRecord | null = null;
  kept: AgentSession | undefined;

  readonly connection = {
    bootId: 'boot-2',
    info: async (processId: string) => {
      const info = this.infos.get(processId);
      if (info === undefined) throw new AppError('sandbox.process_not_found', 'There is no such process.');
      return { headOffset: 0, inputKeys: [], state: 'running', ...info };
    },
    start: async ({ processId, argv, env }: { processId: string; argv: string[]; env: Record<string, string> }) => {
      this.started = { argv, env };
      this.infos.set(processId, {});
      return { pid: 7 };
    },
    attach: async (processId: string, { fromOffset, epoch }: { fromOffset: number; epoch: number }) => {
      this.log.push(`attach ${nameOf(processId)} at ${fromOffset} epoch ${epoch}`);
      return { ended: new Promise(() => undefined), close: () => undefined };
    },
    input: async () => ({ duplicate: false }),
  };

  readonly parts = {
    executions: {
      beginProcess: async (_fence: unknown, process: NewProcess) => {
        this.rows.push(process);
        this.log.push('begin');
        return { ...record(process.processId), ...process, state: 'starting', epoch: 1 };
      },
      adoptProcess: async (_fence: unknown, processId: string) => {
        const known = this.process ?? this.warmProcess ?? record(processId);
        this.log.push(`adopt ${processId}`);
        return { process: { ...known, epoch: known.epoch + 1 }, startOffset: 100 };
      },
      processLive: async () => void this.log.push('live'),
      processEnded: async (processId: string, { state }: { state: string }) =>
        void this.log.push(`${processId} ${state}`),
    },
    agent: {
      promptKey: (promptId: string) => `prompt/${promptId}`,
      open: async (_plan: AgentPlan, host: AgentHost, how: AgentStart) => {
        this.log.push(how.kind === 'launch' ? `open, resume ${how.resume ?? 'nothing'}` : 'open over a live one');
        if (how.kind === 'launch') host.launch({ argv: ['claude'], env: { TOKEN: how.token } });
        return { ready: new Promise(() => undefined), close: () => undefined, serve: () => this.log.push('serve') };
      },
    },
    warm: {
      reserve: async () => this.kept,
      release: () => undefined,
      retire: async (_connection: unknown, { processId }: ProcessRecord) => void this.log.push(`retire ${processId}`),
    },
  } as unknown as AgentRunParts;

  attach(with_: AgentPlan = plan) {
    const { process, warmProcess, agentSessionId } = this;
    const context = {
      claimed: {
        run: { runId: RUN, sessionId: 'session-1', attempts: 1 },
        session: { agentSessionId },
        sandboxId: 'sandbox-1',
        process,
        warmProcess,
      },
      connection: this.connection,
      fence: { runId: RUN, runEpoch: 1 },
    } as unknown as RunContext;
    const host = new RunAgentHost(this.connection);
    return attachAgent({ parts: this.parts, context, plan: with_, host });
  }
}

const record = (processId: string, more: Partial<ProcessRecord> = {}): ProcessRecord => ({
  processId,
  projectId: newId(),
  sandboxId: 'sandbox-1',
  sessionId: 'session-1',
  kind: 'agent',
  state: 'live',
  fingerprint: 'F',
  bootId: 'boot-2',
  epoch: 4,
  outOffset: 300,
  costUsd: 0,
  startedAt: new Date(),
  lastUsedAt: new Date(),
  ...more,
});
const nameOf = (processId: string): string => (processId.length > 10 ? 'new' : processId);

describe('attachAgent', () => {
  it('AGT-31 launches a process under the hash of a new token, and goes on with the conversation', async () => {
    const stage = new Stage();
    stage.agentSessionId = 'conv-1';
    const agent = await stage.attach();
    expect(agent).toMatchObject({ promptSent: false, needsSettings: false, reattached: false });
    expect(stage.log).toEqual(['begin', 'open, resume conv-1', 'live', 'attach new at 300 epoch 1']);
    const token = stage.started?.env['TOKEN'] ?? '';
    expect(stage.rows[0]).toMatchObject({
      tokenHash: sha256(token),
      fingerprint: 'F',
      bootId: 'boot-2',
      kind: 'agent',
    });
    expect(agent.token).toBe(token);
  });

  it('AGT-29 uses the warm process and the session that this worker has over it', async () => {
    const stage = new Stage();
    stage.warmProcess = record('warm');
    stage.infos.set('warm', {});
    stage.kept = { serve: () => stage.log.push('serve'), close: () => undefined } as unknown as AgentSession;
    expect(await stage.attach()).toMatchObject({ session: stage.kept, needsSettings: true, reattached: false });
    expect(stage.log).toEqual(['adopt warm', 'serve', 'attach warm at 300 epoch 5']);
  });

  it('AGT-36 puts a new session over a warm process of another worker', async () => {
    const stage = new Stage();
    stage.warmProcess = record('warm');
    stage.infos.set('warm', { headOffset: 340 });
    const agent = await stage.attach();
    expect(agent).toMatchObject({ promptSent: false, needsSettings: true, reattached: true, replayUntil: 340 });
    expect(stage.log).toEqual(['adopt warm', 'open over a live one', 'attach warm at 300 epoch 5']);
  });

  it.each([
    ['its launch options changed', {}, { fingerprint: 'other' }, plan],
    ['it has ended', { state: 'exited' as const }, {}, plan],
    ['the run wants one of its own', {}, {}, { ...plan, reusable: false }],
  ])('AGT-31 ends the warm process and launches another when %s', async (_why, info, row, wanted) => {
    const stage = new Stage();
    stage.agentSessionId = 'conv-1';
    stage.warmProcess = record('warm', row);
    stage.infos.set('warm', info);
    await stage.attach(wanted);
    expect(stage.log.slice(0, 3)).toEqual(['retire warm', 'begin', 'open, resume conv-1']);
  });

  it('AGT-36 goes back to its own process and knows whether it has the prompt', async () => {
    for (const [inputKeys, promptSent] of [
      [[`prompt/${RUN}`], true],
      [['prompt/an-earlier-run'], false],
    ] as const) {
      const stage = new Stage();
      stage.process = record('own');
      stage.infos.set('own', { inputKeys: [...inputKeys] });
      expect(await stage.attach()).toMatchObject({ promptSent, needsSettings: !promptSent, reattached: true });
    }
  });

  it('AGT-36 takes the prompt for sent when so much came after it that its key is forgotten', async () => {
    const stage = new Stage();
    stage.process = record('own', { outOffset: 5_000 });
    stage.infos.set('own', { inputKeys: Array.from({ length: 1_000 }, (_, index) => `answer/${index}`) });
    expect((await stage.attach()).promptSent).toBe(true);
  });

  it('AGT-36 reads a process that has ended meanwhile to its end, without a session', async () => {
    const stage = new Stage();
    stage.process = record('own');
    stage.infos.set('own', { state: 'exited', inputKeys: [`prompt/${RUN}`] });
    expect((await stage.attach()).session).toBeUndefined();
    expect(stage.log).toEqual(['adopt own', 'attach own at 300 epoch 5']);
  });

  it('ENG-47, AGT-38 makes its own process live when whoever started it did not live to say so', async () => {
    const stage = new Stage();
    stage.process = record('own', { state: 'starting' });
    stage.infos.set('own', { pid: 7 });
    await stage.attach();
    expect(stage.log).toEqual(['adopt own', 'live', 'open over a live one', 'attach own at 300 epoch 5']);
  });

  it('AGT-38 replaces a process that was registered in this boot and never started', async () => {
    const stage = new Stage();
    stage.process = record('unborn', { state: 'starting' });
    await stage.attach();
    expect(stage.log.slice(0, 3)).toEqual(['unborn lost', 'begin', 'open, resume nothing']);
  });

  it('AGT-37 launches nothing in place of a process that may have had the prompt', async () => {
    for (const gone of [record('own'), record('own', { state: 'starting', bootId: 'boot-1' })]) {
      const stage = new Stage();
      stage.process = gone;
      await expect(stage.attach()).rejects.toBeInstanceOf(LostAgentError);
      expect(stage.log).toEqual(['own lost']);
    }
  });
});
