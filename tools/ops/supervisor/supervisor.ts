// All services of one instance, in the order in which they were first applied, and the record of them on disk.
import { join } from 'node:path';
import { writePrivate } from '../host/private-file.ts';
import { ManagedService, type StopOutcome } from './managed-service.ts';
import { rotateIfLarge, USUAL_LOG_LIMITS, type LogLimits } from './service-log.ts';
import { readRecords, recordFile } from './service-records.ts';
import type { ServiceSpec, ServiceStatus, StopRequest } from './service-spec.ts';

const ROTATION_PERIOD_MS = 5_000;

export interface SupervisorFolders {
  /** Holds services.json. */
  run: string;
  logs: string;
}

export class Supervisor {
  readonly #folders: SupervisorFolders;
  readonly #recordFile: string;
  readonly #services = new Map<string, ManagedService>();
  readonly #rotation: NodeJS.Timeout;
  #logLimits: LogLimits = USUAL_LOG_LIMITS;

  constructor(folders: SupervisorFolders) {
    this.#folders = folders;
    this.#recordFile = recordFile(folders.run);
    this.#rotation = setInterval(() => this.#rotateLogs(), ROTATION_PERIOD_MS);
  }

  /** Takes over what an earlier supervisor left running (OPS-6). */
  adoptRecorded(): void {
    for (const [name, record] of Object.entries(readRecords(this.#folders.run))) this.#service(name).adopt(record);
    this.#save();
  }

  get statuses(): ServiceStatus[] {
    return [...this.#services.values()].map((service) => service.status);
  }

  /** `renew`: names of services that are started anew even if nothing changed. */
  async apply(specs: ServiceSpec[], renew: readonly string[]): Promise<void> {
    for (const spec of specs) await this.#service(spec.name).apply(spec, { renew: renew.includes(spec.name) });
  }

  async stop(name: string, request?: Partial<StopRequest>): Promise<StopOutcome> {
    const service = this.#services.get(name);
    if (!service) return 'not_running';
    return service.stop({ ...service.stopRequest, ...request });
  }

  /** Until this supervisor ends; every `up` tells it again. */
  limitLogs(limits: LogLimits): void {
    this.#logLimits = limits;
    this.#rotateLogs();
  }

  /** Stops a service that does not belong to the instance any more, and forgets it. */
  async remove(name: string): Promise<void> {
    await this.#services.get(name)?.stop();
    this.#services.delete(name);
    this.#save();
  }

  /** Stops everything, the newest first, and forgets it. */
  async stopAll(): Promise<void> {
    for (const service of [...this.#services.values()].reverse()) await service.stop();
    this.#services.clear();
    this.#save();
  }

  /** Ends this supervisor's own work; the services go on. */
  close(): void {
    clearInterval(this.#rotation);
    for (const service of this.#services.values()) service.removeAllListeners('changed');
  }

  #service(name: string): ManagedService {
    const known = this.#services.get(name);
    if (known) return known;
    const service = new ManagedService(name, join(this.#folders.logs, `${name}.log`));
    service.on('changed', () => this.#save());
    this.#services.set(name, service);
    return service;
  }

  #save(): void {
    const records = [...this.#services].flatMap(([name, { record }]) => (record ? [[name, record] as const] : []));
    writePrivate(this.#recordFile, `${JSON.stringify(Object.fromEntries(records), null, 2)}\n`);
  }

  #rotateLogs(): void {
    const own = join(this.#folders.logs, 'supervisor.log');
    for (const file of [...[...this.#services.values()].map(({ logFile }) => logFile), own]) {
      try {
        rotateIfLarge(file, this.#logLimits);
      } catch (error) {
        console.error(`${new Date().toISOString()} ${file} was cut, and could not be kept as an older one:`, error);
      }
    }
  }
}
