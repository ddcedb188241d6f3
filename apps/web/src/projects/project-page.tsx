// One open project: its header, and the conversation or the commands.
import { useEffect } from 'react';
import type { Tab } from '../app/route.js';
import { useConnected } from '../app/workspace-context.js';
import { CommandsTab } from '../commands/commands-tab.js';
import { ConversationTab } from '../feed/conversation-tab.js';
import { currentProject } from '../state/runs.js';
import { t } from '../text/index.js';
import { Button } from '../ui/button.js';
import { ProblemNote } from '../ui/problem-note.js';
import { Spinner } from '../ui/spinner.js';
import { useStore } from '../ui/use-store.js';
import type { ProjectSession } from '../workspace/project-session.js';
import { ProjectHeader } from './project-header.js';

export function ProjectPage({ session, tab }: { session: ProjectSession; tab: Tab }) {
  const view = useStore(session.view);
  const connected = useConnected();
  const project = currentProject(view);
  useEffect(() => {
    session.start();
    return () => void session.stop();
  }, [session]);
  useEffect(() => {
    if (project?.name === undefined) return undefined;
    document.title = `${project.name} · ${t.product}`;
    return () => {
      document.title = t.product;
    };
  }, [project?.name]);

  if (view.phase === 'deleted') return <Centered>{t.projects.deleted}</Centered>;
  if (view.phase === 'failed' && view.problem !== undefined) {
    return (
      <Centered>
        <ProblemNote problem={view.problem}>
          <Button size="small" className="mt-2" disabled={!connected} onClick={() => void session.join(true)}>
            {t.projects.retry}
          </Button>
        </ProblemNote>
      </Centered>
    );
  }
  if (project === undefined) {
    return (
      <Centered>
        <Spinner label={t.projects.loadingOne} />
      </Centered>
    );
  }
  return (
    <>
      <ProjectHeader project={project} view={view} tab={tab} />
      {tab === 'conversation' ? (
        <ConversationTab session={session} view={view} />
      ) : (
        <CommandsTab session={session} view={view} />
      )}
    </>
  );
}

function Centered({ children }: { children: React.ReactNode }) {
  return (
    <div className="m-auto w-full max-w-md p-6 text-center">
      <div className="text-left">{children}</div>
      <a href="#/" className="mt-4 inline-block text-accent hover:underline">
        {t.projects.back}
      </a>
    </div>
  );
}
