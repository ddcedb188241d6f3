// What a gateway may ask of the host (R5): one line per request.
import type { HostRequestHandlers } from '#domain';
import { preparePath } from './prepare-path.js';
import type { ProjectRemover } from './remove-project.js';

export interface HostRequestParts {
  /** The worker's own; a request can only narrow them. */
  projectRoots: readonly string[];
  remover: Pick<ProjectRemover, 'remove'>;
  /** Begins to make a project ready. */
  wake: (projectId: string) => Promise<void>;
}

export const hostRequestHandlers = ({ projectRoots, remover, wake }: HostRequestParts): HostRequestHandlers => ({
  'project.prepare_path': ({ path, roots }) =>
    preparePath(
      path,
      roots.filter((root) => projectRoots.includes(root)),
    ),
  'project.wake': async ({ projectId }) => {
    await wake(projectId);
    return {};
  },
  'project.remove': async ({ projectId }) => ({ removed: await remover.remove(projectId) }),
});
