// What a prompt is run with: the project's defaults, what the prompt itself asks for, and the time it may take.
import type { ClaudeOptions } from '#protocol';
import { invalidPayload } from '../transport/payload.js';

export interface TimeoutLimits {
  runTimeoutMs: number;
  runTimeoutMaxMs: number;
}

/** The asked time in ms, or the usual one. Throws `request.invalid_payload` above the limit. */
export function checkTimeout(asked: number | undefined, path: string, limits: TimeoutLimits): number {
  if (asked === undefined) return limits.runTimeoutMs;
  if (asked <= limits.runTimeoutMaxMs) return asked;
  throw invalidPayload([{ path, message: `must not exceed ${limits.runTimeoutMaxMs}` }]);
}

/**
 * A prompt's own options win over the project's, one by one. The timeout is no option of the agent and is given apart; a default that is
 * above a limit lowered since is cut to it.
 */
export function mergeOptions(
  defaults: Record<string, unknown>,
  own: ClaudeOptions | undefined,
  limits: TimeoutLimits,
): { options: Record<string, unknown>; timeoutMs: number } {
  const { timeout_ms: ownTimeout, ...ownOptions } = own ?? {};
  const { timeout_ms: usual, ...defaultOptions } = defaults;
  const usualMs = typeof usual === 'number' ? Math.min(usual, limits.runTimeoutMaxMs) : limits.runTimeoutMs;
  return {
    options: { ...defaultOptions, ...ownOptions },
    timeoutMs: ownTimeout === undefined ? usualMs : checkTimeout(ownTimeout, 'options.timeout_ms', limits),
  };
}
