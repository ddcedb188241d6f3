// The "process" that the Agent SDK drives: two streams over a process that lives in a sandbox and outlives this object.
// Shape: SpawnedProcess of sdk.d.ts.
import { EventEmitter } from 'node:events';
import { Readable, type Writable } from 'node:stream';
import type { SpawnedProcess } from '@anthropic-ai/claude-agent-sdk';
import type { AgentInput } from '../agent-driver.port.js';
import { ClaudeStdin } from './claude-stdin.js';

export class ClaudeProcess extends EventEmitter implements SpawnedProcess {
  readonly stdin: Writable;
  readonly stdout = new Readable({ read: () => undefined });
  exitCode: number | null = null;
  signalCode: NodeJS.Signals | null = null;
  killed = false;

  constructor(put: (input: AgentInput) => Promise<void>) {
    super();
    this.stdin = new ClaudeStdin(put);
    // The SDK listens too; a failed write is reported by whoever failed to write.
    this.stdin.on('error', () => undefined);
    this.on('error', () => undefined);
  }

  deliver(line: string): void {
    this.stdout.push(`${line}\n`);
  }

  ended(code: number | null, signal: string | null): void {
    this.exitCode = code;
    this.signalCode = signal as NodeJS.Signals | null;
    this.stdout.push(null);
    this.emit('exit', code, signal);
  }

  /** The SDK forgets the process and does not try to stop it. */
  letGo(): void {
    this.killed = true;
    this.stdout.push(null);
  }

  /** What stops an agent is the ladder of the run, never the SDK: it would also kill an agent that another worker takes over. */
  kill(): boolean {
    return true;
  }
}
