// Questions and their answers; the first answer wins.
import type { Committed } from '../events/committed.js';
import type { PermissionAnswer, PermissionRecord } from './permission-record.js';

export interface PermissionStore {
  find(requestId: string): Promise<PermissionRecord | undefined>;
  openOf(projectId: string): Promise<PermissionRecord[]>;
  /**
   * Stores the first answer, appends permission.closed and wakes the host. `first` is false when it was answered before; then
   * the record shows by whom. Throws `permission.not_found`, `permission.closed` (ended unanswered), `permission.input_mismatch`.
   */
  answer(
    requestId: string,
    answer: PermissionAnswer & { inputHash: string; userId: string },
  ): Promise<Committed<{ record: PermissionRecord; first: boolean }>>;
}
