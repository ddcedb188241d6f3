// The runs at work under this worker. Each is attached once, however often it is delivered (R4).
import type { Dispatch } from '#domain';
import type { RunAttachment } from './run-attachment.js';
import type { EndingReason } from './run-outcomes.js';

export class RunRegistry {
  private readonly attachments = new Map<string, RunAttachment>();
  private closed = false;

  constructor(private readonly makeAttachment: (dispatch: Dispatch) => RunAttachment) {}

  /** Resolves when the run is over or was let go. A second delivery joins the first; a newer dispatch follows it. */
  async attach(dispatch: Dispatch): Promise<void> {
    const known = this.attachments.get(dispatch.runId);
    if (known !== undefined) {
      await known.done;
      if (known.dispatch.dispatchNo >= dispatch.dispatchNo) return;
      return this.attach(dispatch);
    }
    if (this.closed) return;
    const attachment = this.makeAttachment(dispatch);
    this.attachments.set(dispatch.runId, attachment);
    await attachment.done;
    this.attachments.delete(dispatch.runId);
  }

  find(runId: string): RunAttachment | undefined {
    return this.attachments.get(runId);
  }

  all(): RunAttachment[] {
    return [...this.attachments.values()];
  }

  ofProject(projectId: string): RunAttachment[] {
    return this.all().filter(({ dispatch }) => dispatch.projectId === projectId);
  }

  /** Takes no further run and lets go of all: they go on in their sandboxes. Resolves when the last one has let go. */
  async detachAll(): Promise<void> {
    this.closed = true;
    const attachments = this.all();
    for (const attachment of attachments) attachment.detach();
    await Promise.all(attachments.map(({ done }) => done));
  }

  /** Takes no further run and ends all. Resolves when the last one has ended. */
  async stopAll(reason: EndingReason): Promise<void> {
    this.closed = true;
    const attachments = this.all();
    for (const attachment of attachments) attachment.stop(reason);
    await Promise.all(attachments.map(({ done }) => done));
  }
}
