// How much output may be uncommitted, and for how long (R12).
export const COMMIT_MS = 100;
export const COMMIT_BYTES = 256 * 1024;
/** How often a silent run's active time is stored, so that its timeout outlives a worker. */
export const SILENT_COMMIT_MS = 10_000;
