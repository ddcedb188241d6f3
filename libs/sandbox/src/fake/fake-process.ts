// One process of the fake: a script, its streams and its signals, with the semantics of sandboxd.
import type { KillScope, ProcessExit, ProcessInfo, ProcessSignal, StartProcess } from '#domain';
import { AppError, type StreamChannel } from '#kernel';
import { EpochFence, InputKeys } from '../wire/index.js';
import { type Script, ScriptDeath, type ScriptIo, ScriptKilled } from './fake-script.js';
import { FakeSpool } from './fake-spool.js';

/** Most bytes of input that wait for a script that does not read, as in sandboxd. */
const MAX_WAITING_INPUT_BYTES = 32 * 1024 * 1024;

interface Child {
  name: string;
  place: 'group' | 'session' | 'orphan';
}

export interface FakeProcessPlace {
  pid: number;
  bootId: string;
  capBytes: number;
  onOutOfMemory: () => void;
}

export class FakeProcess {
  readonly fence: EpochFence;
  readonly spool: FakeSpool;
  exit: ProcessExit | null = null;
  private readonly startedAtMs = Date.now();
  private exitedAtMs: number | null = null;
  private children: Child[] = [];
  private readonly keys = new InputKeys();
  private readonly inbox: Uint8Array[] = [];
  private inputEnded: boolean;
  private readonly handlers = new Map<ProcessSignal, () => void>();
  private killed: ScriptKilled | null = null;
  private stopped = false;

  constructor(
    readonly request: StartProcess,
    private readonly place: FakeProcessPlace,
    script: Script | ProcessExit,
  ) {
    this.fence = new EpochFence(request.epoch);
    this.spool = new FakeSpool(place.capBytes);
    this.inputEnded = request.stdin === 'null';
    if (typeof script === 'function') void this.run(script);
    else this.end(script);
  }

  get childNames(): string[] {
    return this.children.map(({ name }) => name);
  }

  info(): ProcessInfo {
    return {
      processId: this.request.processId,
      bootId: this.place.bootId,
      pid: this.exit?.spawnError === undefined ? this.place.pid : null,
      state: this.exit ? 'exited' : 'running',
      exit: this.exit,
      headOffset: this.spool.head,
      tailOffset: this.spool.tail,
      inputKeys: this.keys.list(),
      epoch: this.fence.current,
      startedAtMs: this.startedAtMs,
      exitedAtMs: this.exitedAtMs,
      descendants: this.children.length,
    };
  }

  input(key: string, data: Uint8Array): { duplicate: boolean } {
    if (this.keys.has(key)) return { duplicate: true };
    if (this.exit || this.inputEnded) throw new AppError('sandbox.input_closed', 'The process takes no input.');
    const waiting = this.inbox.reduce((sum, piece) => sum + piece.length, data.length);
    if (waiting > MAX_WAITING_INPUT_BYTES)
      throw new AppError('sandbox.input_full', 'The process does not read its input.');
    this.keys.add(key);
    this.inbox.push(Uint8Array.from(data));
    this.spool.notify();
    return { duplicate: false };
  }

  closeInput(): void {
    this.inputEnded = true;
    this.spool.notify();
  }

  /** Returns how many processes got it. */
  signal(signal: ProcessSignal, scope: KillScope): number {
    const reached = this.children.filter(({ place }) => scope === 'tree' || place === 'group');
    const self = this.exit ? 0 : 1;
    if (signal === 'SIGSTOP' || signal === 'SIGCONT') {
      this.stopped = signal === 'SIGSTOP';
      this.spool.notify();
    } else {
      this.children = this.children.filter((child) => !reached.includes(child));
      if (!this.exit) this.deliver(signal);
    }
    return reached.length + self;
  }

  /** The container died under it: nobody saw how it ended. */
  lose(): void {
    this.children = [];
    this.killed ??= new ScriptKilled('SIGKILL');
    this.end({ code: null, signal: null, outOfMemory: false, lost: true });
    this.exitedAtMs = null;
  }

  private deliver(signal: ProcessSignal): void {
    const handler = signal === 'SIGKILL' ? undefined : this.handlers.get(signal);
    if (handler) return handler();
    this.killed ??= new ScriptKilled(signal);
    this.spool.notify();
  }

  private end(exit: ProcessExit): void {
    if (this.exit) return;
    this.exit = exit;
    this.exitedAtMs = Date.now();
    this.inbox.length = 0;
    this.spool.notify();
  }

  private async run(script: Script): Promise<void> {
    try {
      const code = await script(this.io());
      this.end({ code, signal: null, outOfMemory: false });
    } catch (error) {
      if (error instanceof ScriptKilled) return this.end({ code: null, signal: error.signal, outOfMemory: false });
      // A script that throws is a program that crashes.
      const { signal, outOfMemory } = error instanceof ScriptDeath ? error : { signal: 'SIGABRT', outOfMemory: false };
      if (outOfMemory) this.place.onOutOfMemory();
      this.end({ code: null, signal, outOfMemory });
    }
  }

  private io(): ScriptIo {
    const { argv, env, cwd } = this.request;
    return {
      argv,
      env,
      cwd,
      stdin: { [Symbol.asyncIterator]: () => this.readInput() },
      stdout: (data) => this.write('stdout', data),
      stderr: (data) => this.write('stderr', data),
      onSignal: (signal, handler) => this.handlers.set(signal, handler),
      untilKilled: async () => {
        for (;;) await this.wait();
      },
      fork: (name, place) => this.children.push({ name, place }),
    };
  }

  /** Waits for a change; throws when a signal has ended the process. */
  private async wait(): Promise<void> {
    if (this.killed) throw this.killed;
    await this.spool.change();
    this.check();
  }

  private check(): void {
    if (this.killed) throw this.killed;
  }

  private async write(channel: StreamChannel, data: string | Uint8Array): Promise<void> {
    this.check();
    while (this.spool.isFull || this.stopped) await this.wait();
    this.spool.append(channel, typeof data === 'string' ? Buffer.from(data) : data);
    // Gives the others a turn, as a real process would.
    await new Promise((resolve) => setImmediate(resolve));
    this.check();
  }

  private async *readInput(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const piece = this.stopped ? undefined : this.inbox.shift();
      if (piece) yield piece;
      else if (this.inputEnded && !this.stopped && this.inbox.length === 0) return;
      else await this.wait();
    }
  }
}
