// Sandboxes on a Docker engine. Only the worker, and tests, import this.
import type { SandboxRuntime } from '#domain';
import { DockerSandboxRuntime, type DockerSandboxRuntimeOptions } from './docker-sandbox-runtime.adapter.js';

export type { DockerSandboxRuntimeOptions, RuntimeLogger } from './docker-sandbox-runtime.adapter.js';
export type { ToolFiles } from './container-layout.js';

export function createDockerSandboxRuntime(options: DockerSandboxRuntimeOptions): SandboxRuntime {
  return new DockerSandboxRuntime(options);
}
