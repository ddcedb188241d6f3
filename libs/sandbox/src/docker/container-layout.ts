// Where things are inside a sandbox. The same for every image.
export const LAYOUT = {
  workspace: '/workspace',
  home: '/home/agent',
  node: '/opt/gantry/bin/node',
  claude: '/opt/gantry/bin/claude',
  sandboxd: '/opt/gantry/sandboxd.cjs',
  /** Root's alone, in memory. What lies below cannot be reached by a job, whoever owns it. */
  private: '/run/gantry',
  /** Folder of sandboxd's socket: the worker's on the host. */
  socketFolder: '/run/gantry/sock',
  socketName: 'sandboxd.sock',
  spool: '/run/gantry/spool',
  pipes: '/run/gantry/pipes',
  /** Read-only. */
  broker: '/run/broker',
  brokerSocketName: 'broker.sock',
  brokerPort: 8082,
} as const;

export interface ToolFiles {
  /** Files on the host that are mounted read-only into every sandbox (R20). */
  node: string;
  claude: string;
  sandboxd: string;
}
