// Talks to an instance's supervisor, and starts one where none runs.
import { spawn } from 'node:child_process';
import { request } from 'node:http';
import { join } from 'node:path';
import type { DataLayout } from '../data-layout.ts';
import { poll } from '../host/poll.ts';
import { StepError } from '../step.ts';
import type { StopOutcome } from './managed-service.ts';
import { withLogFile, type LogLimits } from './service-log.ts';
import { livingProcesses, readRecords } from './service-records.ts';
import type { ServiceSpec, ServiceStatus, StopRequest } from './service-spec.ts';
import { supervisorVersion } from './supervisor-version.ts';

const START_TIMEOUT_MS = 15_000;

export interface SupervisorInfo {
  pid: number;
  version: string;
}

export class SupervisorClient {
  readonly #socketPath: string;

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  /** Undefined when no supervisor runs. */
  async info(): Promise<SupervisorInfo | undefined> {
    try {
      return (await this.#call('info')) as SupervisorInfo;
    } catch (error) {
      // The last one: it was killed while it listened.
      const absent = ['ENOENT', 'ECONNREFUSED', 'ECONNRESET'];
      if (absent.includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
      throw error;
    }
  }

  async status(): Promise<ServiceStatus[]> {
    return (await this.#call('status')) as ServiceStatus[];
  }

  /** Makes services run as their specs say; those in `renew` are started anew even if nothing changed. */
  async apply(specs: ServiceSpec[], renew: readonly string[] = []): Promise<ServiceStatus[]> {
    return (await this.#call('apply', { specs, renew })) as ServiceStatus[];
  }

  async stop(name: string, how: Partial<StopRequest> = {}): Promise<StopOutcome> {
    return ((await this.#call('stop', { name, ...how })) as { outcome: StopOutcome }).outcome;
  }

  /** How much of the services' logs is kept. A supervisor that is told nothing has the usual limits. */
  async limitLogs(limits: LogLimits): Promise<void> {
    await this.#call('limit-logs', limits);
  }

  /** Stops a service and forgets it: `status` shows it no longer. */
  async remove(name: string): Promise<void> {
    await this.#call('remove', { name });
  }

  /** Ends the supervisor; the services go on, and the next supervisor takes them over. */
  async leave(): Promise<void> {
    await this.#call('leave');
    await this.#untilGone();
  }

  /** Stops every service, the newest first, and ends the supervisor. */
  async shutDown(): Promise<void> {
    await this.#call('shut-down');
    await this.#untilGone();
  }

  async #untilGone(): Promise<void> {
    const gone = await poll(START_TIMEOUT_MS, async () => (await this.info()) === undefined);
    if (!gone) throw new StepError('The supervisor does not end.', 'Look at data/logs/supervisor.log.');
  }

  async #call(command: string, body: unknown = {}): Promise<unknown> {
    const { status, text } = await post(this.#socketPath, `/${command}`, JSON.stringify(body));
    const answer = JSON.parse(text) as { error?: string };
    if (status !== 200) throw new Error(`The supervisor could not ${command}: ${answer.error ?? status}`);
    return answer;
  }
}

function post(socketPath: string, path: string, body: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ socketPath, path, method: 'POST', agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.once('error', reject);
    });
    outgoing.once('error', reject).end(body);
  });
}

/**
 * The supervisor of what runs: the one that answers; else, when services outlived theirs, a new one that takes them over (OPS-32).
 * Undefined when nothing runs.
 */
export async function supervisorOfRunning(layout: DataLayout): Promise<SupervisorClient | undefined> {
  const client = new SupervisorClient(layout.supervisorSocket);
  if (await client.info()) return client;
  return livingProcesses(readRecords(layout.run)).length > 0 ? ensureSupervisor(layout) : undefined;
}

/** Whether services of the instance run, with a supervisor or without. Changes nothing. */
export async function anythingRuns(layout: DataLayout): Promise<boolean> {
  if (await new SupervisorClient(layout.supervisorSocket).info()) return true;
  return livingProcesses(readRecords(layout.run)).length > 0;
}

/** The instance's supervisor. One of an older version hands over to a new one; its services go on meanwhile. */
export async function ensureSupervisor(layout: DataLayout): Promise<SupervisorClient> {
  const client = new SupervisorClient(layout.supervisorSocket);
  const running = await client.info();
  if (running?.version === supervisorVersion()) return client;
  if (running) await client.leave();
  const main = join(import.meta.dirname, 'main.ts');
  const child = withLogFile(join(layout.logs, 'supervisor.log'), (log) =>
    spawn(process.execPath, [main, layout.root], {
      cwd: layout.root,
      env: {},
      detached: true,
      stdio: ['ignore', log, log],
    }),
  );
  child.unref();
  const failed = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`it ended with code ${code}`)));
  });
  const started = poll(START_TIMEOUT_MS, () => client.info());
  const info = await Promise.race([started, failed]).catch((cause: unknown) => {
    throw new StepError('The supervisor did not start.', `Read ${join(layout.logs, 'supervisor.log')}.`, cause);
  });
  if (!info) throw new StepError('The supervisor does not answer.', `Read ${join(layout.logs, 'supervisor.log')}.`);
  return client;
}
