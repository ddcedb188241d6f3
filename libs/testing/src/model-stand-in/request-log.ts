// What the stand-in was asked, for tests: each request with its outcome, and a way to wait for one without a timer.
import type { IncomingHttpHeaders } from 'node:http';

/** `open` while the answer is being written; `aborted` when the client went first; `cut` when the script dropped the connection. */
export type Outcome = 'open' | 'answered' | 'aborted' | 'cut';

export interface RecordedRequest {
  method: string;
  /** Path with query, as received. */
  path: string;
  /** Header names in lower case; the credential is among them, because tests check it. */
  headers: IncomingHttpHeaders;
  /** The parsed JSON body, or undefined when there was none or it was no JSON. */
  body: unknown;
  /** HTTP status sent, or undefined before headers went out. */
  status: number | undefined;
  outcome: Outcome;
}

export class RequestLog {
  private readonly entries: RecordedRequest[] = [];
  private readonly waiting = new Set<() => void>();

  constructor(private readonly limit: number) {}

  add(request: RecordedRequest): void {
    this.entries.push(request);
    if (this.entries.length > this.limit) this.entries.shift();
    this.changed();
  }

  /** To be called after each change of a recorded request. */
  changed(): void {
    for (const check of [...this.waiting]) check();
  }

  all(): RecordedRequest[] {
    return this.entries.map((entry) => ({ ...entry }));
  }

  /** The first recorded request that fits, now or as soon as there is one. Has no deadline: that is the test runner's. */
  waitFor(fits: (request: RecordedRequest) => boolean): Promise<RecordedRequest> {
    return new Promise((resolve) => {
      const check = (): void => {
        const found = this.entries.find(fits);
        if (found === undefined) return;
        this.waiting.delete(check);
        resolve({ ...found });
      };
      this.waiting.add(check);
      check();
    });
  }
}
