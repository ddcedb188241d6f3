// What runs now, for how long, and the button that stops it.
import { useState } from 'react';
import { useConnected, useWorkspace } from '../app/workspace-context.js';
import type { ActiveRun } from '../state/runs.js';
import { formatDuration } from '../text/format.js';
import { t } from '../text/index.js';
import { Button } from '../ui/button.js';
import { StatusDot } from '../ui/status-dot.js';
import { useNow } from '../ui/use-now.js';

export function ActiveRunBar({ run }: { run: ActiveRun }) {
  const now = useNow(1000, run.startedAt !== undefined);
  const elapsed = run.startedAt === undefined ? 0 : now - Date.parse(run.startedAt);
  return (
    <div className="flex items-center gap-2 px-1">
      <StatusDot tone={run.phase === 'waiting' ? 'warn' : 'busy'} />
      <p className="min-w-0 flex-1 truncate text-[0.8125rem]">
        <span className="font-medium">{t.queue.phase[run.phase]}</span>{' '}
        <span className={`text-muted ${run.kind === 'command' ? 'font-mono text-xs' : ''}`}>{run.title}</span>
      </p>
      {elapsed >= 1000 && (
        <span className="shrink-0 text-xs text-muted tabular-nums">
          {formatDuration(Math.floor(elapsed / 1000) * 1000)}
        </span>
      )}
      <StopButton key={run.runId} runId={run.runId} />
    </div>
  );
}

export function StopButton({ runId }: { runId: string }) {
  const workspace = useWorkspace();
  const connected = useConnected();
  const [stopping, setStopping] = useState(false);
  const stop = async (): Promise<void> => {
    setStopping(true);
    try {
      await workspace.cancelRun(runId);
    } catch (error) {
      workspace.notices.report(error);
      setStopping(false);
    }
  };
  return (
    <Button look="danger" size="small" icon="stop" disabled={stopping || !connected} onClick={() => void stop()}>
      {stopping ? t.composer.stopping : t.composer.stop}
    </Button>
  );
}
