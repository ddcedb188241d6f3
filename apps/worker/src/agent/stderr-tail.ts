// The end of what an agent wrote to stderr, for the error of a run that it did not finish: bounded, with secrets masked.

const KEEP_BYTES = 8 * 1024;
const SHOW_CHARS = 2_000;

/** Values that look like a secret, wherever they stand: keys of providers, bearer tokens, passwords in URLs, long random words. */
const SECRET_SHAPES = [
  /\b(?:sk|pk|ghp|gho|xox[abp]|gantry|gty)[-_][A-Za-z0-9_-]{8,}/g,
  /(?<=\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}/gi,
  /(?<=\b[a-z][a-z0-9+.-]*:\/\/[^\s:@/]*:)[^\s@/]+(?=@)/gi,
  /(?<=\b[\w-]*(?:key|token|secret|password)["']?\s*[=:]\s*["']?)[^\s"',;]{6,}/gi,
];

export class StderrTail {
  #bytes = Buffer.alloc(0);

  push(data: Uint8Array): void {
    const all = Buffer.concat([this.#bytes, data]);
    this.#bytes = Buffer.from(all.subarray(Math.max(0, all.length - KEEP_BYTES)));
  }

  /** At most 2,000 characters. `secrets` are masked literally, what looks like a secret by its shape. */
  text(secrets: readonly string[] = []): string {
    let text = this.#bytes.toString('utf8');
    for (const secret of secrets) if (secret !== '') text = text.replaceAll(secret, '*'.repeat(secret.length));
    for (const shape of SECRET_SHAPES) text = text.replace(shape, (found) => '*'.repeat(found.length));
    return text.trim().slice(-SHOW_CHARS);
  }
}
