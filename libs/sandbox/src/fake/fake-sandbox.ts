// One sandbox of the fake runtime: its boots, its processes and who is connected.
import type { ProcessExit, ProcessInfo, SandboxSpec, StartProcess } from '#domain';
import { AppError, newId } from '#kernel';
import { EpochFence } from '../wire/index.js';
import { type ConnectedSandbox, FakeConnection } from './fake-connection.js';
import { FakeProcess } from './fake-process.js';
import type { Script, ScriptRegistry } from './fake-script.js';

/** The folders that every fake sandbox has. */
const FOLDERS = ['/', '/workspace', '/home/agent', '/tmp'];
const FIRST_PID = 10;

export class FakeSandbox implements ConnectedSandbox {
  bootId = newId();
  state: 'running' | 'stopped' = 'running';
  oomKills = 0;
  readonly processes = new Map<string, FakeProcess>();
  private readonly connections = new Set<FakeConnection>();
  private readonly hostFence = new EpochFence(0);
  private nextPid = FIRST_PID;

  constructor(
    readonly spec: SandboxSpec,
    private readonly scripts: ScriptRegistry,
  ) {}

  get sandboxId(): string {
    return this.spec.sandboxId;
  }

  connect(hostEpoch: number): FakeConnection {
    if (this.hostFence.pass(hostEpoch)) {
      for (const connection of this.connections) {
        if (connection.hostEpoch < hostEpoch) connection.end('sandbox.epoch_stale');
      }
    }
    const connection = new FakeConnection(this, hostEpoch);
    this.connections.add(connection);
    return connection;
  }

  disconnected(connection: FakeConnection): void {
    this.connections.delete(connection);
  }

  /** As if the container had died: processes are lost, their output is kept. */
  crash(): void {
    this.state = 'stopped';
    for (const connection of this.connections) connection.end('sandbox.connection_lost');
    for (const process of this.processes.values()) process.lose();
  }

  boot(): void {
    if (this.state === 'running') return;
    this.state = 'running';
    this.bootId = newId();
    this.oomKills = 0;
  }

  start(request: StartProcess): ProcessInfo & { existed: boolean } {
    const known = this.processes.get(request.processId);
    if (known) {
      known.fence.pass(request.epoch);
      known.spool.notify();
      return { ...known.info(), existed: true };
    }
    const place = {
      pid: this.nextPid++,
      bootId: this.bootId,
      capBytes: this.spec.limits.spoolBytes,
      onOutOfMemory: () => this.oomKills++,
    };
    const process = new FakeProcess(request, place, this.program(request));
    this.processes.set(request.processId, process);
    return { ...process.info(), existed: false };
  }

  private program({ argv, cwd }: StartProcess): Script | ProcessExit {
    const failed = (spawnError: string, spawnErrorAt: 'cwd' | 'program'): ProcessExit => ({
      ...{ code: null, signal: null, outOfMemory: false },
      ...{ spawnError, spawnErrorAt },
    });
    if (!cwd.startsWith('/')) return failed('EINVAL', 'cwd');
    if (!FOLDERS.includes(cwd)) return failed('ENOENT', 'cwd');
    const name = argv[0] ?? '';
    if (argv.length === 0 || argv.some((word) => word.includes('\0'))) return failed('EINVAL', 'program');
    return Object.hasOwn(this.scripts, name) ? (this.scripts[name] as Script) : failed('ENOENT', 'program');
  }
}

export const sandboxLost = (): AppError => new AppError('sandbox.lost', 'The sandbox does not run any more.');
