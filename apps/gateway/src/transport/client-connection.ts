// One client that signed in: who it is, what it asked for, and what has to end with it.
import type { UserRecord } from '#domain';
import type { Outbox } from './outbox.js';

export interface ConnectionFacts {
  connectionId: string;
  user: UserRecord;
  /** The client's own stable id, under which its read cursor is kept. */
  clientId: string | undefined;
  /** Largest text that it wants in one message, in bytes. */
  maxMessageBytes: number;
  outbox: Outbox;
}

/** Something that a feature holds for a connection, e.g. a subscription. */
export interface Attachment {
  close(): void;
}

export class ClientConnection implements ConnectionFacts {
  readonly connectionId: string;
  readonly user: UserRecord;
  readonly clientId: string | undefined;
  readonly maxMessageBytes: number;
  readonly outbox: Outbox;
  private readonly attachments = new Map<string, Attachment>();
  private ended = false;

  constructor(facts: ConnectionFacts) {
    this.connectionId = facts.connectionId;
    this.user = facts.user;
    this.clientId = facts.clientId;
    this.maxMessageBytes = facts.maxMessageBytes;
    this.outbox = facts.outbox;
  }

  /** Closed when the connection ends, or when another attachment takes the key. Closed at once if the connection is over. */
  attach(key: string, attachment: Attachment): void {
    this.detach(key);
    if (this.ended) attachment.close();
    else this.attachments.set(key, attachment);
  }

  attachment(key: string): Attachment | undefined {
    return this.attachments.get(key);
  }

  /** Counts attachments whose key starts with `prefix`. */
  count(prefix: string): number {
    return [...this.attachments.keys()].filter((key) => key.startsWith(prefix)).length;
  }

  /** Closes and forgets; false when there was nothing under this key, or, with `only`, another one. */
  detach(key: string, only?: Attachment): boolean {
    const attachment = this.attachments.get(key);
    if (attachment === undefined || (only !== undefined && attachment !== only)) return false;
    this.attachments.delete(key);
    attachment.close();
    return true;
  }

  /** Closes and forgets every attachment for which `chosen` holds. */
  detachAll(chosen: (attachment: Attachment) => boolean): void {
    for (const [key, attachment] of [...this.attachments]) if (chosen(attachment)) this.detach(key, attachment);
  }

  /** The socket is gone. */
  end(): void {
    this.ended = true;
    this.detachAll(() => true);
  }
}
