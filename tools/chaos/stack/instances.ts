// The services of a chaos stack as processes with names of their own: which is alive, which holds the host, since when.
import type { ServiceProcess } from '#testing';

export interface Instance {
  /** `worker-3`; its connections to Postgres carry it. */
  name: string;
  url: string;
  process: ServiceProcess;
  /** False once it was killed or has ended. */
  alive: boolean;
}

/** A change of the host's holder, as the worker itself logs it. */
export interface Tenure {
  worker: Instance;
  epoch: number;
}

interface LogLine {
  msg?: string;
  host_epoch?: number;
}

/** The epochs of the leases that a worker took, in order, from its log. */
function epochsTaken({ process }: Instance, msg: 'lease taken' | 'lease let go'): number[] {
  return process.lines
    .filter((line) => line.includes(msg))
    .flatMap((line) => {
      const { msg: said, host_epoch: epoch } = JSON.parse(line) as LogLine;
      return said === msg && epoch !== undefined ? [epoch] : [];
    });
}

/** Who took the host last and has not let go of it since. */
export function holderAmong(workers: readonly Instance[]): Tenure | undefined {
  const held = workers
    .filter(({ alive }) => alive)
    .flatMap((worker) => {
      const letGo = new Set(epochsTaken(worker, 'lease let go'));
      return epochsTaken(worker, 'lease taken')
        .filter((epoch) => !letGo.has(epoch))
        .map((epoch) => ({ worker, epoch }));
    });
  return held.toSorted((a, b) => b.epoch - a.epoch)[0];
}

/** Whether a worker has let go of the lease with this epoch. */
export const hasLetGo = (worker: Instance, epoch: number): boolean =>
  epochsTaken(worker, 'lease let go').includes(epoch);
