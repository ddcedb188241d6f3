// A moment in time as people read it, with the exact one as its title.
import { formatAgo, formatClock, formatMoment } from '../text/format.js';
import { t } from '../text/index.js';
import { useNow } from './use-now.js';

export function Ago({ at, className }: { at: string; className?: string }) {
  const now = useNow(30_000);
  return (
    <time dateTime={at} title={formatMoment(at)} className={className}>
      {formatAgo(at, now, t.time.now)}
    </time>
  );
}

export function Clock({ at }: { at: string | undefined }) {
  if (at === undefined) return null;
  return (
    <time dateTime={at} title={formatMoment(at)} className="text-xs text-muted tabular-nums">
      {formatClock(at)}
    </time>
  );
}
