// What holds for a project's runs beside the agent's options. What is not set follows the installation's configuration.
import type { PermissionPolicy } from '../permissions/permission-policy.js';

export interface ProjectSettings {
  permissionPolicy?: PermissionPolicy;
  /** A question that nobody answered for so long counts as refused. */
  permissionTimeoutMs?: number;
  /** After so long a run that waits for a person leaves its lane to others; 0: never. */
  parkAfterMs?: number;
  onUsageLimit?: 'wait' | 'fail';
  /** Days after its end for which a run's output is kept; 0: for ever. */
  outputRetentionDays?: number;
  /** Stored output of one run, bytes. */
  maxOutputBytes?: number;
}
