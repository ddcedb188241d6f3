// A connection whose changes wait for the lease. sandboxd turns an earlier holder away only when the next one has connected; until
// then a worker that wakes from a freeze could still write to an agent or close its stdin (R4).
import type { ProcessOutput, SandboxConnection } from '#domain';
import type { LeaseTerm } from '../hosts/lease-term.js';

/** What only reads goes straight on. The others throw `host.lease_lost` when the lease is lost. */
export class LeasedConnection implements SandboxConnection {
  constructor(
    private readonly inner: SandboxConnection,
    private readonly term: Pick<LeaseTerm, 'running'>,
  ) {}

  get sandboxId(): string {
    return this.inner.sandboxId;
  }

  get bootId(): string {
    return this.inner.bootId;
  }

  get closed(): SandboxConnection['closed'] {
    return this.inner.closed;
  }

  async start(...args: Parameters<SandboxConnection['start']>): ReturnType<SandboxConnection['start']> {
    await this.term.running();
    return this.inner.start(...args);
  }

  /** Raises the epoch of the process. */
  async attach(...args: Parameters<SandboxConnection['attach']>): Promise<ProcessOutput> {
    await this.term.running();
    return this.inner.attach(...args);
  }

  async input(...args: Parameters<SandboxConnection['input']>): ReturnType<SandboxConnection['input']> {
    await this.term.running();
    return this.inner.input(...args);
  }

  async closeInput(...args: Parameters<SandboxConnection['closeInput']>): Promise<void> {
    await this.term.running();
    return this.inner.closeInput(...args);
  }

  async signal(...args: Parameters<SandboxConnection['signal']>): ReturnType<SandboxConnection['signal']> {
    await this.term.running();
    return this.inner.signal(...args);
  }

  async acknowledge(...args: Parameters<SandboxConnection['acknowledge']>): Promise<void> {
    await this.term.running();
    return this.inner.acknowledge(...args);
  }

  async forget(...args: Parameters<SandboxConnection['forget']>): Promise<void> {
    await this.term.running();
    return this.inner.forget(...args);
  }

  info(processId: string): ReturnType<SandboxConnection['info']> {
    return this.inner.info(processId);
  }

  list(): ReturnType<SandboxConnection['list']> {
    return this.inner.list();
  }

  memoryStatus(): ReturnType<SandboxConnection['memoryStatus']> {
    return this.inner.memoryStatus();
  }

  close(): void {
    this.inner.close();
  }
}
