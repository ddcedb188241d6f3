// The questions of the agent that wait for an answer: the first in full, the others behind it, in an order that never jumps.
import type { PermissionInfo } from '#protocol';
import { useEffect, useRef } from 'react';
import { useHello, useWorkspace } from '../app/workspace-context.js';
import { permissionClosings } from '../state/permissions.js';
import type { ProjectView } from '../state/project-state.js';
import { t } from '../text/index.js';
import { PermissionCard } from './permission-card.js';

export function PermissionPanel({ requests, view }: { requests: readonly PermissionInfo[]; view: ProjectView }) {
  useAnswersOfOthers(requests, view);
  const [first, ...others] = requests;
  return (
    <div role="region" aria-live="assertive" aria-label={t.permission.several(requests.length)} className="contents">
      {first !== undefined && (
        <div className="shrink-0 space-y-1.5">
          <PermissionCard key={first.request_id} request={first} />
          {others.map((request) => (
            <PermissionCard key={request.request_id} request={request} folded />
          ))}
        </div>
      )}
    </div>
  );
}

/** Tells who answered a question that was on this page, when it was somebody else. */
function useAnswersOfOthers(requests: readonly PermissionInfo[], view: ProjectView): void {
  const { notices } = useWorkspace();
  const me = useHello()?.user.user_id;
  const shown = useRef(new Map<string, PermissionInfo>());
  useEffect(() => {
    const open = new Set(requests.map(({ request_id: id }) => id));
    for (const request of requests) shown.current.set(request.request_id, request);
    const gone = [...shown.current.values()].filter(({ request_id: id }) => !open.has(id));
    if (gone.length === 0) return;
    const closings = permissionClosings(view.log.events);
    for (const request of gone) {
      shown.current.delete(request.request_id);
      const closing = closings.get(request.request_id);
      if (closing?.status !== 'answered' || closing.answered_by?.user_id === me) continue;
      if (closing.answered_via === 'policy') continue; // nobody was faster
      notices.tell(t.permission.first(closing.answered_by?.name ?? t.permission.somebody, request.tool_name));
    }
  }, [requests, view.log, notices, me]);
}
