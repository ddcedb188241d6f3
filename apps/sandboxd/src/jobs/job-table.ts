// All jobs of this sandbox: those of this boot and those that an earlier one left on disk. Starting is idempotent by id, over
// boots too: a process that was started once is never started again.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '#kernel';
import type { KillScope, ProcessInfo, ProcessSignal, StartProcess } from '#sandbox/wire';
import { LaunchMarks } from '../processes/launch-mark.js';
import { LaunchFailure, type Launcher } from '../processes/launcher.js';
import type { MemoryWatch } from '../processes/memory-watch.js';
import type { ProcessTrees } from '../processes/process-trees.js';
import { Spool, type SpoolLimits } from '../spool/spool.js';
import { Job, type JobHooks } from './job.js';
import { type JobRecord, writeRecord } from './job-record.js';
import { recoverJobs } from './recovered-jobs.js';

/** How long the ends of killed processes may take to be seen. */
const KILLED_MS = 500;
const POLL_MS = 20;

export interface JobTableOptions {
  /** Folder of the spools; only root may enter it. */
  root: string;
  bootId: string;
  limits: SpoolLimits;
  launcher: Launcher;
  trees: ProcessTrees;
  memory: MemoryWatch<Job>;
  log: (event: string, facts: Record<string, unknown>) => void;
}

export class JobTable {
  private readonly jobs = new Map<string, Job>();
  private readonly starting = new Map<string, Promise<void>>();
  private readonly marks = new LaunchMarks();
  private readonly hooks: JobHooks;

  constructor(private readonly options: JobTableOptions) {
    this.hooks = {
      wasOutOfMemory: (job, end) => this.options.memory.ended(job, end),
      diskError: (error) => this.options.log('disk_error', { code: (error as NodeJS.ErrnoException).code }),
    };
    mkdirSync(options.root, { recursive: true, mode: 0o700 });
    for (const { folder, record, spool } of recoverJobs(options.root, options.limits)) {
      this.jobs.set(record.processId, new Job(folder, record, spool, this.hooks));
    }
  }

  /** Starts a process once, or says what became of it. That it cannot be started is its end, not an error. */
  async start(request: StartProcess): Promise<{ job: Job; existed: boolean }> {
    const known = this.jobs.get(request.processId);
    if (known) {
      known.fenceOff(request.epoch);
      await this.starting.get(known.id);
      return { job: known, existed: true };
    }
    const job = this.create(request);
    this.jobs.set(job.id, job);
    const started = this.launch(job, request).finally(() => this.starting.delete(job.id));
    this.starting.set(job.id, started);
    await started;
    return { job, existed: false };
  }

  /** Throws `sandbox.process_not_found`. */
  async get(processId: string): Promise<Job> {
    const job = this.jobs.get(processId);
    if (!job) throw new AppError('sandbox.process_not_found', 'There is no such process in this sandbox.');
    await this.starting.get(processId);
    return job;
  }

  describe(job: Job): ProcessInfo {
    const descendants = job.tree ? (this.options.trees.countDescendants().get(job.tree) ?? 0) : 0;
    return job.info(descendants);
  }

  /** In order of their ids, those above `after`. */
  describeAll(after: string | null): ProcessInfo[] {
    const counts = this.options.trees.countDescendants();
    return [...this.jobs.values()]
      .filter(({ id }) => after === null || id > after)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .map((job) => job.info((job.tree && counts.get(job.tree)) ?? 0));
  }

  async signal(job: Job, signal: ProcessSignal, scope: KillScope): Promise<number> {
    if (!job.tree) return 0;
    if (signal === 'SIGKILL') job.willBeKilled();
    return this.options.trees.signal(job.tree, signal, scope);
  }

  /** Unknown ids are ignored. Throws `sandbox.process_running`. */
  async forget(processId: string, epoch: number): Promise<void> {
    const job = this.jobs.get(processId);
    if (!job) return;
    job.fenceOff(epoch);
    await this.starting.get(processId);
    if (!job.exit) throw new AppError('sandbox.process_running', 'The process has not ended.');
    this.jobs.delete(processId);
    job.remove();
    const needed = new Set([...this.jobs.values()].map(({ tree }) => tree));
    this.options.trees.prune((tree) => needed.has(tree));
  }

  /** Asks every process to end, then ends it; for the end of the sandbox. */
  async endAll(graceMs: number): Promise<void> {
    const running = [...this.jobs.values()].filter((job) => job.tree !== null);
    await Promise.all(running.map((job) => this.signal(job, 'SIGTERM', 'tree')));
    await endOf(running, graceMs);
    await Promise.all(running.map((job) => this.signal(job, 'SIGKILL', 'tree')));
    await endOf(running, KILLED_MS);
  }

  private create({ processId, epoch }: StartProcess): Job {
    const folder = join(this.options.root, processId);
    const record: JobRecord = {
      processId,
      bootId: this.options.bootId,
      pid: null,
      epoch,
      startedAtMs: Date.now(),
      exit: null,
      exitedAtMs: null,
      inputKeys: [],
    };
    try {
      const spool = Spool.create(folder, this.options.limits);
      // Before the start: a crash in between must leave a process that is lost, not one that is started twice.
      writeRecord(folder, record);
      return new Job(folder, record, spool, this.hooks);
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw new AppError('sandbox.spool_full', 'There is no room for the output of a process.', { cause: error });
    }
  }

  private async launch(job: Job, request: StartProcess): Promise<void> {
    const mark = this.marks.take();
    this.options.memory.started(job);
    try {
      this.options.trees.add(job.began(await this.options.launcher.launch(request, mark), mark));
    } catch (error) {
      this.options.memory.ended(job, { code: null, signal: null, killedByUs: true });
      if (!(error instanceof LaunchFailure)) this.options.log('launch_failed', { error: String(error) });
      // Whatever it was, there is no process: a job that stayed `running` would be waited for for ever.
      const { errno, at } = error instanceof LaunchFailure ? error : { errno: errnoOf(error), at: 'program' as const };
      job.couldNotStart({ code: null, signal: null, outOfMemory: false, spawnError: errno, spawnErrorAt: at });
    }
  }
}

const errnoOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'EIO';

async function endOf(jobs: readonly Job[], withinMs: number): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (jobs.some((job) => !job.exit) && Date.now() < deadline) await sleep(POLL_MS);
}
