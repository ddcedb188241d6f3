// The list of projects: state, counts and when each was last active; and the form for a new one.
import type { ProjectState } from '#kernel';
import type { ProjectInfo } from '#protocol';
import { useState } from 'react';
import { formatRoute } from '../app/route.js';
import { useConnected, useWorkspace } from '../app/workspace-context.js';
import { t } from '../text/index.js';
import { Button } from '../ui/button.js';
import { Icon } from '../ui/icon.js';
import { ProblemNote } from '../ui/problem-note.js';
import { Spinner } from '../ui/spinner.js';
import { StatusDot, type Tone } from '../ui/status-dot.js';
import { Ago } from '../ui/time.js';
import { useStore } from '../ui/use-store.js';
import { CreateProjectForm } from './create-project-form.js';

export const STATE_TONES: Record<ProjectState, Tone> = { IDLE: 'idle', EXECUTING: 'busy', ERROR: 'danger' };

export function ProjectNav({ openId }: { openId: string | undefined }) {
  const { projects } = useWorkspace();
  const { projects: list, nextCursor, problem } = useStore(projects.state);
  const [creating, setCreating] = useState(false);
  const connected = useConnected();
  return (
    <nav aria-label={t.projects.title} className="flex min-h-0 flex-1 flex-col overflow-y-auto">
      <div className="flex items-center justify-between px-4 pt-3 pb-1">
        <h2 className="text-xs font-semibold tracking-wide text-muted uppercase">{t.projects.title}</h2>
        {!creating && (
          <Button
            size="small"
            look="quiet"
            icon="plus"
            reason={connected ? undefined : t.problem.client['client.offline']}
            onClick={() => setCreating(true)}
          >
            {t.projects.create}
          </Button>
        )}
      </div>
      {creating && <CreateProjectForm onClose={() => setCreating(false)} />}
      {problem !== undefined && (
        <div className="px-3 py-2">
          <ProblemNote problem={problem} />
        </div>
      )}
      {list === undefined && problem === undefined && (
        <p className="px-4 py-3">
          <Spinner label={t.projects.loading} />
        </p>
      )}
      {list?.length === 0 && !creating && (
        <div className="px-4 py-6 text-center">
          <p className="font-medium">{t.projects.empty}</p>
          <p className="text-[0.8125rem] text-muted">{t.projects.emptyHint}</p>
        </div>
      )}
      <ul className="space-y-0.5 p-2">
        {list?.map((project) => (
          <li key={project.project_id}>
            <ProjectLink project={project} open={project.project_id === openId} />
          </li>
        ))}
      </ul>
      {nextCursor !== undefined && (
        <div className="p-2">
          <Button size="small" className="w-full" onClick={() => void projects.loadMore()}>
            {t.projects.more}
          </Button>
        </div>
      )}
    </nav>
  );
}

function ProjectLink({ project, open }: { project: ProjectInfo; open: boolean }) {
  return (
    <a
      href={formatRoute({ projectId: project.project_id, tab: 'conversation' })}
      aria-current={open ? 'page' : undefined}
      className="block rounded-lg px-2.5 py-2 transition-colors hover:bg-sunken aria-[current=page]:bg-accent-soft"
    >
      <span className="flex items-center gap-2">
        <StatusDot tone={STATE_TONES[project.state]} label={t.projects.state[project.state]} />
        <span className="min-w-0 flex-1 truncate font-medium">{project.name}</span>
        <Ago at={project.last_active} className="shrink-0 text-xs text-muted" />
      </span>
      <span className="mt-0.5 flex items-center gap-2 pl-4 text-xs text-muted">
        <span className="min-w-0 flex-1 truncate font-mono" title={project.path}>
          {project.path}
        </span>
        {project.queued_runs > 0 && (
          <span className="shrink-0 font-medium text-accent">{t.projects.queued(project.queued_runs)}</span>
        )}
        <span className="inline-flex shrink-0 items-center gap-1" title={t.projects.messages(project.message_count)}>
          <Icon name="message" className="size-3" />
          <span className="sr-only">{t.projects.messages(project.message_count)}</span>
          <span aria-hidden="true">{project.message_count}</span>
        </span>
      </span>
    </a>
  );
}
