// Every key and channel that Gantry uses in Redis, in one place. All carry the instance id, so that two installations can share a server (R19).

/** `bullPrefix` is BullMQ's; the others are whole names. A new shape of value gets a new name. */
export interface RedisKeys {
  readonly bullPrefix: string;
  /** Channel: live frames of a project. */
  project(projectId: string): string;
  /** Channel: "look at your open intents". */
  wake(hostId: string): string;
  /** Channel: requests to the worker that holds a host. */
  hostRequests(hostId: string): string;
  /** Channel: answers to one client of the host channel. */
  hostReplies(clientId: string): string;
  /** Hash: unfinished messages of a project, by run and epoch. */
  partials(projectId: string): string;
}

export function redisKeys(instanceId: string): RedisKeys {
  const root = `gantry:${instanceId}`;
  return {
    bullPrefix: `${root}:bull`,
    project: (projectId) => `${root}:project:${projectId}`,
    wake: (hostId) => `${root}:wake:${hostId}`,
    hostRequests: (hostId) => `${root}:host-requests:${hostId}`,
    hostReplies: (clientId) => `${root}:host-replies:${clientId}`,
    partials: (projectId) => `${root}:partials:${projectId}`,
  };
}
