// One service under supervision: starts it, notices its death, starts it again after a pause, and stops it in time.
import { spawn } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { statSync } from 'node:fs';
import { poll } from '../host/poll.ts';
import { identify, isAlive, signalProcess, type ProcessIdentity } from '../host/process-identity.ts';
import { decideRestart } from './restart-policy.ts';
import { withLogFile } from './service-log.ts';
import {
  fingerprintOf,
  type ServiceRecord,
  type ServiceSpec,
  type ServiceState,
  type ServiceStatus,
  type StopRequest,
} from './service-spec.ts';

/** How often a process that another supervisor started is looked at: only its parent is told of its end. */
const ADOPTED_LOOK_MS = 500;
/** After SIGKILL a process is gone at once, unless the kernel holds it (e.g. a dead disk). */
const KILL_TIMEOUT_MS = 5_000;
/** How long the old process goes on serving while the new one does not take over. */
const TAKEOVER_TIMEOUT_MS = 15_000;

/** How a stop went: it was not running, it ended when asked, or it had to be killed. */
export type StopOutcome = 'not_running' | 'ended' | 'killed';

/** Signals a process, waits, and kills its group when the time is over. */
async function endProcess(identity: ProcessIdentity, { signal, timeoutMs }: StopRequest): Promise<StopOutcome> {
  signalProcess(identity, signal);
  if (await poll(timeoutMs, () => !isAlive(identity))) return 'ended';
  signalProcess(identity, 'SIGKILL', { group: true });
  await poll(KILL_TIMEOUT_MS, () => !isAlive(identity));
  return 'killed';
}

const stopRequestOf = ({ stopSignal, stopTimeoutMs }: ServiceSpec): StopRequest => ({
  signal: stopSignal,
  timeoutMs: stopTimeoutMs,
});

export class ManagedService extends EventEmitter<{ changed: [] }> {
  readonly name: string;
  readonly logFile: string;
  #spec: ServiceSpec | undefined;
  #state: ServiceState = 'stopped';
  #process: Omit<ServiceRecord, 'restarts' | 'retiring'> | undefined;
  #retiring: ProcessIdentity[] = [];
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #restarts = 0;
  #lastExit: string | null = null;

  constructor(name: string, logFile: string) {
    super();
    this.name = name;
    this.logFile = logFile;
  }

  get record(): ServiceRecord | undefined {
    return this.#process && { ...this.#process, restarts: this.#restarts, retiring: this.#retiring.filter(isAlive) };
  }

  get status(): ServiceStatus {
    return {
      name: this.name,
      state: this.#state,
      pid: this.#process?.identity.pid ?? null,
      sinceMs: this.#process?.sinceMs ?? null,
      restarts: this.#restarts,
      lastExit: this.#lastExit,
    };
  }

  /** How the service wants to be stopped: as the running process was started, else as its spec says. */
  get stopRequest(): StopRequest {
    const fromSpec = this.#spec && stopRequestOf(this.#spec);
    return this.#process?.stop ?? fromSpec ?? { signal: 'SIGTERM', timeoutMs: KILL_TIMEOUT_MS };
  }

  /** Takes over a process that an earlier supervisor started. Gives whether it still lives. */
  adopt(record: ServiceRecord): boolean {
    const { restarts, retiring = [], ...process } = record;
    this.#retiring = retiring.filter(isAlive);
    if (!isAlive(record.identity)) return false;
    this.#restarts = restarts;
    this.#process = process;
    this.#become('running');
    this.#watchAdopted(record.identity);
    return true;
  }

  /** Makes the service run as `spec` says. A running process with an equal spec is left alone (OPS-4), unless `renew` says otherwise. */
  async apply(spec: ServiceSpec, { renew }: { renew: boolean }): Promise<void> {
    const isRunning = this.#process !== undefined && this.#state === 'running';
    const unchanged = isRunning && this.#process?.fingerprint === fingerprintOf(spec);
    this.#spec = spec;
    if (unchanged && !renew) return;
    this.#failures = 0;
    this.#restarts = 0;
    if (isRunning && spec.takesOver !== undefined) return this.#replace(spec.takesOver);
    await this.stop();
    this.#start();
  }

  /** Starts the new process beside the old one, and tells the old one to stop when the new one has its socket (OPS-28). */
  async #replace(socketPath: string): Promise<void> {
    const old = this.#process?.identity;
    const inode = (): number | undefined => statSync(socketPath, { throwIfNoEntry: false })?.ino;
    const before = inode();
    this.#process = undefined;
    this.#start();
    await poll(TAKEOVER_TIMEOUT_MS, () => inode() !== before || this.#state !== 'running');
    if (!old || !signalProcess(old, this.stopRequest.signal)) return;
    this.#retiring = [...this.#retiring.filter(isAlive), old];
    this.emit('changed');
  }

  /** Signals the process, waits, and kills its group when the time is over. It stays stopped. */
  async stop(request: StopRequest = this.stopRequest): Promise<StopOutcome> {
    clearTimeout(this.#timer);
    const processes = [...this.#retiring, ...(this.#process ? [this.#process.identity] : [])].filter(isAlive);
    if (processes.length > 0) this.#become('stopping');
    const outcomes = await Promise.all(processes.map((identity) => endProcess(identity, request)));
    this.#retiring = [];
    this.#forgetProcess('stopped');
    if (outcomes.length === 0) return 'not_running';
    return outcomes.includes('killed') ? 'killed' : 'ended';
  }

  #start(): void {
    const spec = this.#spec;
    if (!spec) throw new Error(`${this.name} was never told how to run`);
    const [program = '', ...args] = spec.argv;
    const child = withLogFile(this.logFile, (log) =>
      spawn(program, args, {
        cwd: spec.cwd,
        env: spec.env,
        detached: true,
        stdio: ['ignore', log, log],
        ...spec.owner,
      }),
    );
    const startedAt = performance.now();
    const identity = child.pid === undefined ? undefined : identify(child.pid);
    const ended = (how: string): void => {
      if (identity && this.#process?.identity !== identity) return; // stopped and replaced meanwhile
      this.#died(how, performance.now() - startedAt);
    };
    child.once('error', (error) => ended(error.message));
    child.once('exit', (code, signal) => ended(signal ?? `code ${code}`));
    if (!identity) return; // 'error' follows
    this.#process = { identity, fingerprint: fingerprintOf(spec), sinceMs: Date.now(), stop: stopRequestOf(spec) };
    this.#become('running');
  }

  #died(how: string, livedMs: number): void {
    this.#lastExit = how;
    if (this.#state === 'stopping') return; // `stop` goes on from here
    const { failures, delayMs } = decideRestart(this.#failures, livedMs);
    this.#failures = failures;
    if (delayMs === undefined || !this.#spec) return this.#forgetProcess('failed');
    this.#forgetProcess('waiting');
    this.#timer = setTimeout(() => {
      this.#restarts += 1;
      this.#start();
    }, delayMs);
  }

  #watchAdopted(identity: ProcessIdentity): void {
    const look = setInterval(() => {
      const current = this.#process;
      if (current?.identity === identity && isAlive(identity)) return;
      clearInterval(look);
      // Its exit code went to whoever started it.
      if (current?.identity === identity) this.#died('unknown', Date.now() - current.sinceMs);
    }, ADOPTED_LOOK_MS);
  }

  #forgetProcess(state: ServiceState): void {
    this.#process = undefined;
    this.#become(state);
  }

  #become(state: ServiceState): void {
    this.#state = state;
    this.emit('changed');
  }
}
