// What waits its turn: position, kind and title of each run, and the way to cancel it.
import { DEFAULT_LANE } from '#kernel';
import { useState } from 'react';
import { useConnected, useWorkspace } from '../app/workspace-context.js';
import type { ProjectView } from '../state/project-state.js';
import { queuedCount, type QueuedRun, queuedRuns } from '../state/runs.js';
import { t } from '../text/index.js';
import { IconButton } from '../ui/button.js';
import { Icon } from '../ui/icon.js';

/** `folded`: something more urgent needs the room. On small screens it is folded too; one touch opens it. */
export function QueuePanel({ view, folded }: { view: ProjectView; folded: boolean }) {
  const [chosen, setChosen] = useState<boolean>();
  const queued = queuedRuns(view);
  const [next] = queued;
  const count = queuedCount(view);
  if (next === undefined) return null;
  const open = chosen ?? (!folded && window.matchMedia('(min-width: 40rem) and (min-height: 40rem)').matches);
  return (
    <section
      aria-label={t.queue.title(count)}
      className="shrink-0 overflow-hidden rounded-xl border border-line bg-canvas"
    >
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setChosen(!open)}
        className="flex min-h-9 w-full items-center gap-2 px-3 text-left text-xs text-muted hover:bg-sunken"
      >
        <Icon name="chevron" className={`size-3.5 transition-transform ${open ? 'rotate-90' : ''}`} />
        <span className="shrink-0 font-medium text-ink">{t.queue.title(count)}</span>
        {!open && <span className="min-w-0 flex-1 truncate">{t.queue.nextIs(next.title)}</span>}
      </button>
      {open && (
        <ol className="max-h-36 overflow-y-auto pb-1">
          {queued.map((run) => (
            <QueuedRow key={run.run_id} run={run} />
          ))}
          {count > queued.length && <li className="px-3 text-xs text-muted">{t.queue.more(count - queued.length)}</li>}
        </ol>
      )}
    </section>
  );
}

function QueuedRow({ run }: { run: QueuedRun }) {
  const workspace = useWorkspace();
  const connected = useConnected();
  const [cancelling, setCancelling] = useState(false);
  const cancel = async (): Promise<void> => {
    setCancelling(true);
    try {
      await workspace.cancelRun(run.run_id);
    } catch (error) {
      workspace.notices.report(error);
      setCancelling(false);
    }
  };
  return (
    <li className="flex items-center gap-2 pr-1 pl-3" data-testid="queued-run">
      <span className="w-9 shrink-0 text-xs text-muted tabular-nums">
        {run.position === 0 ? t.queue.next : t.queue.position(run.position)}
      </span>
      <Icon name={run.kind === 'command' ? 'terminal' : 'message'} className="size-3.5 text-muted" />
      <span className="sr-only">{t.queue.kind[run.kind]}</span>
      <span className={`min-w-0 flex-1 truncate ${run.kind === 'command' ? 'font-mono text-xs' : ''}`}>
        {run.title}
      </span>
      {run.lane !== DEFAULT_LANE && <span className="shrink-0 text-xs text-muted">{t.queue.lane(run.lane)}</span>}
      <IconButton
        icon="close"
        label={t.queue.cancel(run.title)}
        disabled={cancelling || !connected}
        onClick={() => void cancel()}
        className="size-8"
      />
    </li>
  );
}
