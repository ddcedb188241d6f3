// One command: what was run, how it ended, and its output when it is opened.
import { useState } from 'react';
import { StopButton } from '../composer/active-run-bar.js';
import { type Command, isFinal } from '../state/commands.js';
import { formatDuration } from '../text/format.js';
import { t } from '../text/index.js';
import { IconButton } from '../ui/button.js';
import { Icon } from '../ui/icon.js';
import { ProblemNote } from '../ui/problem-note.js';
import { StatusDot, type Tone } from '../ui/status-dot.js';
import { Ago } from '../ui/time.js';
import { useNow } from '../ui/use-now.js';
import { OutputPanel } from './output-panel.js';

interface CommandCardProps {
  command: Command;
  startsOpen: boolean;
  onAgain?: () => void;
}

export function CommandCard({ command, startsOpen, onAgain }: CommandCardProps) {
  const [open, setOpen] = useState(startsOpen);
  const began = command.status !== 'queued' && command.workingDirectory !== '';
  const over = isFinal(command.status);
  return (
    <article className="overflow-hidden rounded-lg border border-line bg-canvas" data-testid="command">
      <div className="flex items-center gap-1 pr-1.5">
        <button
          type="button"
          onClick={() => setOpen(!open)}
          disabled={!began}
          aria-expanded={open && began}
          aria-label={`${open ? t.commands.hide : t.commands.show}: ${command.shellCommand}`}
          className="flex min-h-10 min-w-0 flex-1 items-center gap-2 rounded-lg px-2.5 py-1.5 text-left enabled:hover:bg-sunken"
        >
          <Icon
            name="chevron"
            className={`size-3.5 text-muted transition-transform ${open && began ? 'rotate-90' : ''} ${began ? '' : 'invisible'}`}
          />
          <span className="min-w-0 flex-1 truncate font-mono text-[0.8125rem]">
            <span className="text-accent select-none">$ </span>
            {command.shellCommand}
          </span>
        </button>
        <Outcome command={command} />
        {onAgain !== undefined && over && <IconButton icon="refresh" label={t.commands.again} onClick={onAgain} />}
        {!over && <StopButton runId={command.runId} />}
      </div>
      {command.error !== undefined && (
        <div className="px-2.5 pb-2.5">
          <ProblemNote quiet problem={{ ...command.error, kind: 'failed' }} />
        </div>
      )}
      {open && began && <OutputPanel command={command} />}
    </article>
  );
}

function Outcome({ command }: { command: Command }) {
  const running = command.status === 'running';
  const now = useNow(1000, running);
  const duration = command.durationMs ?? (running ? Math.max(0, now - Date.parse(command.startedAt)) : undefined);
  return (
    <span className="flex shrink-0 items-center gap-1.5 text-xs text-muted tabular-nums" data-testid="command-outcome">
      <StatusDot tone={toneOf(command)} />
      <span className={command.exitCode === undefined || command.exitCode === 0 ? '' : 'font-medium text-danger'}>
        {wordsOf(command)}
      </span>
      {duration !== undefined && duration >= (running ? 1000 : 0) && (
        <span>· {formatDuration(running ? Math.floor(duration / 1000) * 1000 : duration)}</span>
      )}
      <span className="hidden sm:inline">
        · <Ago at={command.startedAt} />
      </span>
    </span>
  );
}

function wordsOf({ status, exitCode, exitSignal }: Command): string {
  if (isFinal(status) && status !== 'succeeded' && status !== 'failed') return t.commands.status[status];
  if (exitCode !== undefined) return t.commands.exit(exitCode);
  if (exitSignal !== undefined) return t.commands.signal(exitSignal);
  return t.commands.status[status];
}

function toneOf({ status, exitCode }: Command): Tone {
  if (!isFinal(status)) return status === 'queued' ? 'idle' : 'busy';
  if (status === 'cancelled') return 'idle';
  return status === 'succeeded' && (exitCode ?? 0) === 0 ? 'ok' : 'danger';
}
