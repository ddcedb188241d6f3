// What is deleted by itself, in steps that are small, can be repeated, and never hold a project for long.

export interface RetentionLimits {
  /** Days for which the output of finished runs is kept; 0: for ever. A project's `output_retention_days` counts before it. */
  outputDays: number;
  /** Most bytes of output of one project; above it that of the oldest finished runs goes. */
  maxProjectBytes: number;
}

export interface RetentionStore {
  /** Marks output that is too old as expired: nobody reads it any more. Gives back of how many runs; fewer than `limit` when no more are due. */
  expireOld(hostId: string, limits: Pick<RetentionLimits, 'outputDays'>, limit: number): Promise<number>;
  /** The same for projects of the host that hold more than they may; the runs that finished first expire first. */
  expireAboveCap(hostId: string, limits: Pick<RetentionLimits, 'maxProjectBytes'>): Promise<number>;
  /** Deletes a batch of what is marked. False when nothing is left. */
  deleteExpired(hostId: string): Promise<boolean>;
  /** Deletes a batch of applied intents and of processes that ended more than `days` ago. False when nothing is left. */
  purgeRecords(hostId: string, days: number): Promise<boolean>;
}
