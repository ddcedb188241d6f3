// The wish of a `setting` intent, as clients sent it.
import type { AgentSetting } from '#domain';

/** Null gives a wish back to the defaults; a field that is missing stays as it is. */
export function agentSetting(payload: Record<string, unknown>): AgentSetting {
  const { model, permission_mode: permissionMode } = payload;
  return {
    ...(isWish(model) ? { model } : {}),
    ...(isWish(permissionMode) ? { permissionMode } : {}),
  };
}

const isWish = (value: unknown): value is string | null => typeof value === 'string' || value === null;
