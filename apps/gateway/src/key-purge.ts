// Removes old idempotency keys now and then, so that their table does not grow for ever. Several gateways may do so at once.
import { type Logger, logError } from '#observability';
import type { GatewayBackend } from './backend.js';

export interface KeyPurge {
  /** Resolves when the purge that is under way is over. */
  stop(): Promise<void>;
}

/** The first purge is `everyMs` from now. What fails is logged and tried again with the next one. */
export function startKeyPurge(
  backend: Pick<GatewayBackend, 'purgeKeys'>,
  { everyMs, logger }: { everyMs: number; logger: Logger },
): KeyPurge {
  let underWay: Promise<void> | undefined;
  const purge = async (): Promise<void> => {
    try {
      const purged = await backend.purgeKeys();
      if (purged > 0) logger.debug({ purged }, 'idempotency keys purged');
    } catch (error) {
      logError(logger, error, { operation: 'purge keys' });
    }
  };
  const timer = setInterval(() => {
    underWay ??= purge().finally(() => {
      underWay = undefined;
    });
  }, everyMs);
  timer.unref();
  return {
    stop: async () => {
      clearInterval(timer);
      await underWay;
    },
  };
}
