// One job: its record, its spool, its process while it lives, and who is attached. Every change carries an epoch (R4).
import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import { AppError } from '#kernel';
import { EpochFence, type ProcessExit, type ProcessInfo, staleEpoch } from '#sandbox/wire';
import { JobInput } from '../processes/job-input.js';
import type { LaunchedJob } from '../processes/launcher.js';
import type { EndOfJob } from '../processes/memory-watch.js';
import type { JobTree } from '../processes/process-trees.js';
import { ProcessOutput } from '../spool/process-output.js';
import type { Spool } from '../spool/spool.js';
import { type JobRecord, writeRecord } from './job-record.js';

/** Someone who follows a job's output. */
export interface JobListener {
  /** Epoch with which it attached. */
  readonly epoch: number;
  grown(): void;
  ended(exit: ProcessExit): void;
  detached(error: AppError): void;
}

export interface JobHooks {
  /** The process has ended: what the memory killer had to do with it. */
  wasOutOfMemory(job: Job, end: EndOfJob): boolean;
  diskError(error: unknown): void;
}

interface LiveProcess {
  tree: JobTree & { mainPid: number | null };
  input: JobInput;
  output: ProcessOutput;
  end: { exit: ProcessExit; atMs: number } | null;
  killedByUs: boolean;
}

export class Job {
  private readonly fence: EpochFence;
  private readonly listeners = new Set<JobListener>();
  private live: LiveProcess | null = null;

  constructor(
    private readonly folder: string,
    private readonly record: JobRecord,
    readonly spool: Spool,
    private readonly hooks: JobHooks,
  ) {
    this.fence = new EpochFence(record.epoch);
  }

  get id(): string {
    return this.record.processId;
  }

  get tree(): JobTree | null {
    return this.live?.tree ?? null;
  }

  /** The end of the process, once all its output is in the spool. */
  get exit(): ProcessExit | null {
    return this.record.exit;
  }

  info(descendants: number): ProcessInfo {
    const { processId, bootId, pid, startedAtMs, exit, exitedAtMs } = this.record;
    return {
      processId,
      bootId,
      pid,
      state: exit ? 'exited' : 'running',
      exit,
      headOffset: this.spool.head,
      tailOffset: this.spool.tail,
      inputKeys: this.live?.input.acceptedKeys ?? this.record.inputKeys,
      epoch: this.fence.current,
      startedAtMs,
      exitedAtMs: exit ? exitedAtMs : null,
      descendants,
    };
  }

  /** Lets this epoch act, and ends the attachments of lower ones. Throws `sandbox.epoch_stale`. */
  fenceOff(epoch: number): void {
    if (!this.fence.pass(epoch)) return;
    this.record.epoch = epoch;
    this.save();
    for (const listener of this.listeners) {
      if (listener.epoch < epoch) this.detach(listener, staleEpoch(listener.epoch, epoch));
    }
  }

  attach(listener: JobListener): void {
    this.listeners.add(listener);
  }

  detach(listener: JobListener, error?: AppError): void {
    if (this.listeners.delete(listener) && error) listener.detached(error);
  }

  began({ child, pid, stdin, stdout, stderr }: LaunchedJob, mark: number): JobTree {
    const output = new ProcessOutput(this.spool, {
      grown: () => this.listeners.forEach((listener) => listener.grown()),
      complete: () => this.finish(),
      diskError: (error) => this.hooks.diskError(error),
    });
    const tree = { mainPid: pid as number | null, leaderPid: pid, mark };
    this.live = { tree, input: new JobInput(stdin), output, end: null, killedByUs: false };
    this.record.pid = pid;
    this.save();
    output.read('stdout', new Socket({ fd: stdout, readable: true, writable: false }));
    output.read('stderr', new Socket({ fd: stderr, readable: true, writable: false }));
    this.watch(child, this.live);
    return tree;
  }

  couldNotStart(exit: ProcessExit): void {
    this.record.exit = exit;
    this.record.exitedAtMs = Date.now();
    this.spool.seal();
    this.save();
  }

  input(key: string, data: Buffer): { duplicate: boolean } {
    if (!this.live) throw new AppError('sandbox.input_closed', 'The process takes no input.');
    return this.live.input.write(key, data);
  }

  closeInput(): void {
    this.live?.input.close();
  }

  /** sandboxd is about to kill the process itself. */
  willBeKilled(): void {
    if (this.live) this.live.killedByUs = true;
  }

  acknowledge(offset: number): void {
    this.spool.acknowledge(offset);
    this.live?.output.acknowledged();
  }

  /** Removes the spool; the job must have ended. */
  remove(): void {
    const gone = new AppError('sandbox.process_not_found', 'The process was forgotten.');
    for (const listener of this.listeners) this.detach(listener, gone);
    this.spool.remove();
  }

  private watch(child: ChildProcess, live: LiveProcess): void {
    child.once('exit', (code, signal) => {
      const outOfMemory = this.hooks.wasOutOfMemory(this, { code, signal, killedByUs: live.killedByUs });
      live.end = { exit: { code, signal, outOfMemory }, atMs: Date.now() };
      live.tree.mainPid = null;
      live.input.discard();
      live.output.processExited();
    });
  }

  private finish(): void {
    if (!this.live?.end) return;
    const { exit, atMs } = this.live.end;
    this.record.exit = exit;
    this.record.exitedAtMs = atMs;
    this.record.inputKeys = this.live.input.acceptedKeys;
    this.save();
    for (const listener of this.listeners) listener.ended(exit);
  }

  private save(): void {
    try {
      writeRecord(this.folder, this.record);
    } catch (error) {
      // A full disk must not take the process down; only the next boot misses this change.
      this.hooks.diskError(error);
    }
  }
}
