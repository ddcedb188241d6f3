// Questions of an agent to people (R15): asked once per tool use, answered once, withdrawn when the agent loses interest. While
// one is open the run waits, its slot is free and its clock stands still (R4, R14). An answer to a run that was parked meanwhile reaches
// the agent when the run has its lane back: until then another one may be at work there.
import { newId } from '#kernel';
import type { ExecutionStore, PermissionAnswer, PermissionRecord, PermissionStore, RunRecord } from '#domain';
import type { RunContext } from '../runs/run-driver.port.js';
import type { AgentDecision, AgentQuestion } from './agent-driver.port.js';
import { canonicalJson, hashOfJson } from './canonical-json.js';

export interface DeskParts {
  store: Pick<ExecutionStore, 'openPermission' | 'cancelPermission' | 'resumeRun' | 'answerOf' | 'isParked'>;
  questions: Pick<PermissionStore, 'openOf'>;
  context: RunContext;
  processId: string;
  /** Commits what the agent said before its question. */
  flush(): Promise<void>;
  /** The run cannot go on: database or lease are gone. */
  fail(error: unknown): void;
}

interface Pending {
  toolUseId: string;
  answer(answer: PermissionAnswer): void;
}

export class PermissionDesk {
  readonly #pending = new Map<string, Pending>();
  readonly #unsubscribe: () => void;
  #turns: Promise<void> = Promise.resolve();
  /** Who waits for the next sign that something may have changed. */
  #wakers: (() => void)[] = [];
  #suspended = false;
  #closed = false;

  constructor(private readonly parts: DeskParts) {
    this.#unsubscribe = parts.context.onAnswers(() => this.#rung());
    // A run that was waiting when its worker went away has no slot and goes on waiting.
    if (waitsForPerson(parts.context.claimed.run)) this.#suspend();
  }

  /** Never rejects: after a failure it never answers, because an answer that no person gave must not reach the agent. */
  async decide(question: AgentQuestion, withdrawn: AbortSignal): Promise<AgentDecision> {
    try {
      return await this.#ask(question, withdrawn);
    } catch (error) {
      if (!this.#closed) this.parts.fail(error);
      return never();
    }
  }

  /** After attaching to a live agent: these tool uses wait for an answer, whatever else is recorded as open was withdrawn. */
  async reconcile(openToolUses: string[]): Promise<void> {
    const { context, processId, questions, store } = this.parts;
    const open = await questions.openOf(context.claimed.run.projectId);
    for (const { requestId, toolUseId, processId: owner } of open) {
      if (owner !== processId || openToolUses.includes(toolUseId)) continue;
      await context.announce(await store.cancelPermission(context.fence, requestId));
    }
    if (openToolUses.length === 0) await this.#goOn();
  }

  /** No answer reaches the agent from now on. */
  close(): void {
    this.#closed = true;
    this.#unsubscribe();
  }

  /** The run was let go, or is being stopped: then its end closes what is open. */
  #isOver(): boolean {
    return this.#closed || this.parts.context.stop.aborted;
  }

  async #ask(question: AgentQuestion, withdrawn: AbortSignal): Promise<AgentDecision> {
    const { context, processId, store } = this.parts;
    await this.parts.flush();
    const record = await context.announce(
      await store.openPermission({
        ...context.fence,
        requestId: newId(),
        processId,
        toolUseId: question.toolUseId,
        toolName: question.toolName,
        input: question.input,
        inputHash: hashOfJson(question.input),
        suggestions: question.suggestions,
      }),
    );
    const answer = record.status === 'open' ? await this.#answered(record, withdrawn) : record.answer;
    await this.#goOn();
    if (this.#isOver()) return never();
    return decisionOf(question, answer);
  }

  /** Null when the agent withdrew the question. */
  async #answered(record: PermissionRecord, withdrawn: AbortSignal): Promise<PermissionAnswer | null> {
    this.#suspend();
    const answer = new Promise<PermissionAnswer | null>((resolve) => {
      this.#pending.set(record.requestId, { toolUseId: record.toolUseId, answer: resolve });
      if (withdrawn.aborted) resolve(null);
      withdrawn.addEventListener('abort', () => resolve(null), { once: true });
    });
    this.#guard(this.#look());
    const given = await answer;
    this.#pending.delete(record.requestId);
    if (given === null) await this.#cancel(record.requestId);
    return given;
  }

  async #cancel(requestId: string): Promise<void> {
    const { context, store } = this.parts;
    if (!this.#isOver()) await context.announce(await store.cancelPermission(context.fence, requestId));
  }

  async #look(): Promise<void> {
    for (const [requestId, pending] of this.#pending) {
      const answer = await this.parts.store.answerOf(requestId);
      if (answer !== undefined) pending.answer(answer);
    }
  }

  #rung(): void {
    this.#guard(this.#look());
    const wakers = this.#wakers;
    this.#wakers = [];
    for (const wake of wakers) wake();
  }

  /** Resolves when the run may hear answers: it is at work again, or other questions keep it waiting in its lane. */
  async #goOn(): Promise<void> {
    const { context, store } = this.parts;
    const { runId } = context.fence;
    while (this.#waits() && !this.#isOver()) {
      const rung = new Promise<void>((resolve) => this.#wakers.push(resolve));
      if (await store.isParked(runId)) {
        await rung;
        continue;
      }
      await this.#resumeIfNone();
      // It may have been parked in between.
      if (!this.#waits() || !(await store.isParked(runId))) return;
    }
  }

  #waits(): boolean {
    return this.#suspended;
  }

  #suspend(): void {
    if (this.#suspended) return;
    this.#suspended = true;
    this.parts.context.activeTime.suspend();
    this.parts.context.releaseSlot();
  }

  /** When the last question is answered the run takes a slot again, and only then the agent hears the answer. */
  #resumeIfNone(): Promise<void> {
    const turn = this.#turns.then(async () => {
      const { context, store } = this.parts;
      if (this.#isOver() || !this.#suspended || this.#pending.size > 0) return;
      await context.takeSlot();
      if (this.#isOver()) return; // the slot is the run's, which has ended or is driven anew
      const resumed = this.#pending.size === 0 && (await context.announce(await store.resumeRun(context.fence)));
      if (!resumed) return context.releaseSlot();
      this.#suspended = false;
      context.activeTime.resume();
    });
    this.#turns = turn.catch(() => undefined);
    return turn;
  }

  #guard(work: Promise<void>): void {
    work.catch((error: unknown) => {
      if (!this.#closed) this.parts.fail(error);
    });
  }
}

const waitsForPerson = ({ status, waitReason }: RunRecord): boolean =>
  status === 'parked' || (status === 'waiting' && waitReason !== 'usage_limit');

const never = (): Promise<never> => new Promise(() => undefined);

function decisionOf(question: AgentQuestion, answer: PermissionAnswer | null): AgentDecision {
  if (answer === null) return { behavior: 'deny', message: 'The question was withdrawn.' };
  if (answer.behavior === 'deny') {
    return { behavior: 'deny', message: answer.message ?? 'The user did not allow this.' };
  }
  // Only what the agent offered can be accepted: a client must not smuggle in a rule of its own.
  const offered = new Set(question.suggestions.map(canonicalJson));
  return {
    behavior: 'allow',
    updatedInput: answer.updatedInput ?? question.input,
    acceptedSuggestions: (answer.suggestions ?? []).filter((suggestion) => offered.has(canonicalJson(suggestion))),
  };
}
