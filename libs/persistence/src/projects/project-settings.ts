// Settings of a project as they are stored (the wire's names) and as the use-cases see them. What an older version wrote and this one
// does not know is left alone.
import type { DenyRule, PermissionPolicy, ProjectSettings } from '#domain';

type Stored = Readonly<Record<string, unknown>>;

export function toSettings(stored: unknown): ProjectSettings {
  const { permission_policy: policy, on_usage_limit: onLimit, ...rest } = isObject(stored) ? stored : {};
  return {
    ...(isObject(policy) ? { permissionPolicy: toPolicy(policy) } : {}),
    ...numberAs('permissionTimeoutMs', rest['permission_timeout_ms']),
    ...numberAs('parkAfterMs', rest['park_after_ms']),
    ...(onLimit === 'wait' || onLimit === 'fail' ? { onUsageLimit: onLimit } : {}),
    ...numberAs('outputRetentionDays', rest['output_retention_days']),
    ...numberAs('maxOutputBytes', rest['max_output_bytes']),
  };
}

/** Nothing is allowed by itself where a rule cannot be read. */
function toPolicy(stored: Stored): PermissionPolicy {
  const rules: unknown[] = Array.isArray(stored['deny']) ? stored['deny'] : [];
  const deny = rules.flatMap(toDenyRule);
  const allows = stored['mode'] === 'allow_in_sandbox' && deny.length === rules.length;
  return { mode: allows ? 'allow_in_sandbox' : 'ask', deny };
}

function toDenyRule(stored: unknown): DenyRule[] {
  if (!isObject(stored) || typeof stored['tool'] !== 'string') return [];
  const { tool, pattern } = stored;
  return [{ tool, ...(typeof pattern === 'string' ? { pattern } : {}) }];
}

type NumberKey = 'permissionTimeoutMs' | 'parkAfterMs' | 'outputRetentionDays' | 'maxOutputBytes';

const numberAs = (key: NumberKey, value: unknown): Partial<Record<NumberKey, number>> =>
  typeof value === 'number' ? { [key]: value } : {};

const isObject = (value: unknown): value is Stored =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
