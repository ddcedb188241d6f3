// What Postgres knows of sandboxes.
export interface SandboxStore {
  /**
   * Sandboxes of the host whose project has no unfinished run and no live process, and nothing has happened in it for `idleMs`. Whether
   * they run, and what else does in them, only the engine knows.
   */
  idleSandboxes(hostId: string, idleMs: number): Promise<{ sandboxId: string; projectId: string }[]>;
}
