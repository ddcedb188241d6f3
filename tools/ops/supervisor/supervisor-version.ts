// Which code a supervisor runs, so that a newer checkout replaces it.
import { contentHash } from '../content-hash.ts';

/** Hash of the supervisor's sources and of the Node that runs them. */
export function supervisorVersion(): string {
  return contentHash([import.meta.dirname], [process.version]);
}
