// Who is calling: the broker knows a caller only by the random token that was put into one process's environment.

export interface TokenOwner {
  processId: string;
  projectId: string;
  sessionId: string | null;
  /** The run that the process works on now, if any. */
  runId: string | null;
}

export interface TokenDirectory {
  /** The live process that this token was made for, or undefined. Takes the token itself; stores only its SHA-256. Throws `service.unavailable`. */
  findOwner(token: string): Promise<TokenOwner | undefined>;
}
