// Brings what people ask of live runs to their attachments: woken by Redis, and read again each second (R5).
import type { ExecutionStore, IntentRecord, LiveBus } from '#domain';
import type { Logger } from '#observability';
import { logError } from '#observability';
import { every, type Repeated } from '../timing/every.js';
import type { RunRegistry } from './run-registry.js';

export interface IntentWatcherParts {
  hostId: string;
  executions: Pick<ExecutionStore, 'openIntents'>;
  bus: Pick<LiveBus, 'onWake'>;
  registry: Pick<RunRegistry, 'find' | 'all'>;
  logger: Logger;
}

const READ_INTERVAL_MS = 1_000;

export class IntentWatcher {
  private reading: Repeated | undefined;
  /** Told once each. */
  private readonly unknown = new Set<string>();
  private waking: Promise<{ unsubscribe(): Promise<void> }> | undefined;

  constructor(private readonly parts: IntentWatcherParts) {}

  start(): void {
    const { bus, hostId, logger } = this.parts;
    this.reading = every(
      READ_INTERVAL_MS,
      () => this.readAll(),
      (error) => logError(logger, error, { doing: 'read intents' }),
    );
    this.waking = bus.onWake(hostId, () => this.reading?.nudge());
  }

  async stop(): Promise<void> {
    await this.reading?.stop();
    await (await this.waking)?.unsubscribe();
  }

  private async readAll(): Promise<void> {
    const runIds = this.parts.registry.all().map(({ dispatch }) => dispatch.runId);
    for (const intent of await this.parts.executions.openIntents(runIds)) await this.bring(intent);
    // An answer that came while its wake-up was lost, or before the driver listened.
    for (const attachment of this.parts.registry.all()) if (attachment.waitsForPeople) attachment.ringAnswers();
  }

  private async bring(intent: IntentRecord): Promise<void> {
    const attachment = this.parts.registry.find(intent.runId);
    if (attachment === undefined) return; // read again when reconciling has attached its run
    if (intent.kind === 'cancel') {
      // Stays open until the run is finished, so that a successor sees it too.
      attachment.stop({ kind: 'cancel', by: intent.createdBy });
      return;
    }
    if (!attachment.control(intent) && !this.unknown.has(intent.intentId)) {
      this.unknown.add(intent.intentId);
      this.parts.logger.warn(
        { run_id: intent.runId, intent: intent.kind },
        'an intent that this version does not know',
      );
    }
  }
}
