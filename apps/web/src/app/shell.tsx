// The frame of the page: the list of projects beside the open one; on a phone one of them at a time.
import { ProjectNav } from '../projects/project-nav.js';
import { ProjectPage } from '../projects/project-page.js';
import { t } from '../text/index.js';
import { Icon } from '../ui/icon.js';
import { ConnectionBar } from './connection-bar.js';
import { DemoBanner } from './demo-banner.js';
import { NoticeList } from './notice-list.js';
import { useRoute } from './use-route.js';
import { UserFooter } from './user-footer.js';
import { useWorkspace } from './workspace-context.js';

export function Shell({ onSignOut }: { onSignOut: () => void }) {
  const { projectId, tab } = useRoute();
  const workspace = useWorkspace();
  const open = projectId !== undefined;
  return (
    <div className="flex h-dvh flex-col">
      <ConnectionBar />
      <DemoBanner />
      <div className="flex min-h-0 flex-1">
        <aside
          className={`${open ? 'hidden md:flex' : 'flex'} w-full flex-col border-line bg-canvas md:w-72 md:border-r`}
        >
          <a href="#/" className="flex h-14 shrink-0 items-center gap-2.5 border-b border-line px-4">
            <span className="flex size-8 items-center justify-center rounded-lg bg-accent text-on-accent">
              <Icon name="gantry" className="size-5" />
            </span>
            <span className="text-base font-semibold tracking-tight">{t.product}</span>
          </a>
          <ProjectNav openId={projectId} />
          <UserFooter onSignOut={onSignOut} />
        </aside>
        <main className={`${open ? 'flex' : 'hidden md:flex'} min-w-0 flex-1 flex-col bg-surface`}>
          {projectId === undefined ? (
            <NoProject />
          ) : (
            <ProjectPage key={projectId} session={workspace.session(projectId)} tab={tab} />
          )}
        </main>
      </div>
      <NoticeList />
    </div>
  );
}

function NoProject() {
  return (
    <div className="m-auto max-w-xs p-6 text-center">
      <Icon name="folder" className="mx-auto mb-3 size-9 text-edge" />
      <h1 className="text-base font-semibold">{t.projects.choose}</h1>
      <p className="text-muted">{t.projects.chooseHint}</p>
    </div>
  );
}
