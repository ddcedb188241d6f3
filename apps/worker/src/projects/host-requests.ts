// What a gateway may ask of the host (R5): one line per request.
import type { HostRequestHandlers } from '#domain';
import { preparePath } from './prepare-path.js';
import type { ProjectRemover } from './remove-project.js';

/** `projectRoots`: the worker's own; a request can only narrow them. */
export const hostRequestHandlers = (
  projectRoots: readonly string[],
  remover: Pick<ProjectRemover, 'remove'>,
): HostRequestHandlers => ({
  'project.prepare_path': ({ path, roots }) =>
    preparePath(
      path,
      roots.filter((root) => projectRoots.includes(root)),
    ),
  'project.remove': async ({ projectId }) => ({ removed: await remover.remove(projectId) }),
});
