// Name, folder and state of the open project, the way back on a phone, and the two views.
import type { ProjectInfo } from '#protocol';
import { formatRoute, type Tab, TABS } from '../app/route.js';
import type { ProjectView } from '../state/project-state.js';
import { activeRuns } from '../state/runs.js';
import { t } from '../text/index.js';
import { Icon, type IconName } from '../ui/icon.js';
import { StatusDot, type Tone } from '../ui/status-dot.js';
import { STATE_TONES } from './project-nav.js';

const TAB_ICONS: Record<Tab, IconName> = { conversation: 'message', commands: 'terminal' };

export function ProjectHeader({ project, view, tab }: { project: ProjectInfo; view: ProjectView; tab: Tab }) {
  const { tone, words } = stateOf(project, view);
  return (
    <header className="flex shrink-0 flex-wrap items-center gap-x-3 border-b border-line px-3 sm:h-14 sm:flex-nowrap sm:px-5">
      <a
        href="#/"
        aria-label={t.projects.back}
        className="-ml-1 inline-flex size-11 items-center justify-center rounded-lg text-muted hover:bg-sunken hover:text-ink md:hidden"
      >
        <Icon name="back" className="size-5" />
      </a>
      <div className="min-w-0 flex-1 py-2">
        <h1 className="truncate text-[0.9375rem] leading-tight font-semibold">{project.name}</h1>
        <p className="truncate font-mono text-xs text-muted" title={project.path}>
          {project.path}
        </p>
      </div>
      <p
        className="inline-flex shrink-0 items-center gap-1.5 rounded-full border border-line px-2.5 py-0.5 text-xs font-medium"
        role="status"
      >
        <StatusDot tone={tone} />
        {words}
      </p>
      <nav
        aria-label={t.tabs.label}
        className="-mx-3 flex w-[calc(100%+1.5rem)] border-t border-line sm:mx-0 sm:h-full sm:w-auto sm:border-0"
      >
        {TABS.map((name) => (
          <a
            key={name}
            href={formatRoute({ projectId: project.project_id, tab: name })}
            aria-current={name === tab ? 'page' : undefined}
            className="-mb-px inline-flex flex-1 items-center justify-center gap-1.5 border-b-2 border-transparent px-3 py-2.5 font-medium text-muted hover:text-ink aria-[current=page]:border-accent aria-[current=page]:text-ink sm:flex-none sm:py-0"
          >
            <Icon name={TAB_ICONS[name]} />
            {t.tabs[name]}
          </a>
        ))}
      </nav>
    </header>
  );
}

function stateOf(project: ProjectInfo, view: ProjectView): { tone: Tone; words: string } {
  const runs = activeRuns(view);
  const waiting = runs.some(({ phase }) => phase === 'waiting');
  if (waiting) return { tone: 'warn', words: t.queue.phase.waiting };
  if (runs.length > 0) {
    const starting = runs.every(({ phase }) => phase === 'starting');
    return { tone: 'busy', words: starting ? t.queue.phase.starting : t.queue.phase.running };
  }
  return { tone: STATE_TONES[project.state], words: t.projects.state[project.state] };
}
