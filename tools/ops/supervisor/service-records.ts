// What an instance's services.json says about its services, for those who find it without a supervisor.
import { join } from 'node:path';
import { readIfPresent } from '../host/private-file.ts';
import { isAlive, type ProcessIdentity } from '../host/process-identity.ts';
import type { ServiceRecord } from './service-spec.ts';

export type ServiceRecords = Record<string, ServiceRecord>;

/** `run`: the folder in which the file lies. */
export const recordFile = (run: string): string => join(run, 'services.json');

/** Every recorded service by name; none when nothing was ever started. */
export const readRecords = (run: string): ServiceRecords =>
  JSON.parse(readIfPresent(recordFile(run)) ?? '{}') as ServiceRecords;

/** A recorded process that lives now, and the service it belongs to. */
export interface LivingProcess {
  name: string;
  identity: ProcessIdentity;
}

/** The recorded processes that live, those that finish their work beside a newer one among them. */
export function livingProcesses(records: ServiceRecords): LivingProcess[] {
  return Object.entries(records).flatMap(([name, { identity, retiring = [] }]) =>
    [identity, ...retiring].filter(isAlive).map((living) => ({ name, identity: living })),
  );
}
