// Requests from a gateway to the worker that holds a host: path checks and other work only the host can do (R5).

export interface HostRequests {
  /**
   * Makes sure that a project folder exists beneath one of the given roots that is also a root of the worker's own configuration and can be written by jobs. Errors: `project.path_outside_roots`
   * (a symlink leads out), `project.path_not_directory`, `project.path_not_writable`.
   */
  'project.prepare_path': {
    request: { path: string; roots: string[] };
    response: { realPath: string; created: boolean };
  };
  /** Somebody joined the project: its sandbox and an agent are made ready. Answers at once. */
  'project.wake': { request: { projectId: string }; response: Record<string, never> };
  /** Removes a project's container, HOME and spools, then its rows. */
  'project.remove': { request: { projectId: string }; response: { removed: boolean } };
}
export type HostRequestName = keyof HostRequests;

export interface HostClient {
  /** Throws the worker's AppError, or `host.unavailable` when nobody answers within the deadline. */
  request<N extends HostRequestName>(
    hostId: string,
    name: N,
    payload: HostRequests[N]['request'],
    options?: { deadlineMs?: number; correlationId?: string },
  ): Promise<HostRequests[N]['response']>;
}
export type HostRequestHandlers = {
  [N in HostRequestName]: (payload: HostRequests[N]['request']) => Promise<HostRequests[N]['response']>;
};
export interface HostServer {
  serve(hostId: string, handlers: HostRequestHandlers): Promise<{ close(): Promise<void> }>;
}
