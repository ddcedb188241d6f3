// The conversation: what happened, what needs an answer, what waits, and where to write.
import { useMemo } from 'react';
import { Composer } from '../composer/composer.js';
import { PermissionPanel } from '../permissions/permission-panel.js';
import { QueuePanel } from '../queue/queue-panel.js';
import type { ProjectView } from '../state/project-state.js';
import { pendingPermissions } from '../state/permissions.js';
import type { ProjectSession } from '../workspace/project-session.js';
import { Feed } from './feed.js';

export function ConversationTab({ session, view }: { session: ProjectSession; view: ProjectView }) {
  const pending = useMemo(() => pendingPermissions(view), [view]);
  return (
    <>
      <Feed session={session} view={view} />
      <div className="shrink-0 border-t border-line bg-surface">
        <div className="mx-auto flex w-full max-w-3xl flex-col gap-2 px-3 pt-2 pb-[max(0.75rem,env(safe-area-inset-bottom))] sm:px-5">
          <div className="-mx-1 -mb-2 flex max-h-[46dvh] flex-col gap-2 overflow-y-auto px-1 has-[details,section]:mb-0 has-[details,section]:py-1">
            <PermissionPanel requests={pending} view={view} />
            <QueuePanel view={view} folded={pending.length > 0} />
          </div>
          <Composer projectId={view.projectId} view={view} />
        </div>
      </div>
    </>
  );
}
