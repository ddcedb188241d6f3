// The thin rows of the feed: what a turn cost, where conversations begin and end, system lines, and what is not loaded.
import { assertNever } from '#kernel';
import { useHello } from '../app/workspace-context.js';
import type { DividerItem, GapItem, LineItem, ResultItem } from '../state/feed-item.js';
import { type RetryLine, secondsLeft } from '../state/retry-rows.js';
import { t } from '../text/index.js';
import { Button } from '../ui/button.js';
import { Icon } from '../ui/icon.js';
import { ProblemNote } from '../ui/problem-note.js';
import { StatusDot } from '../ui/status-dot.js';
import { Clock } from '../ui/time.js';
import { useNow } from '../ui/use-now.js';
import type { ProjectSession } from '../workspace/project-session.js';
import { openingWords, resultFacts } from './turn-words.js';

export function ResultRow({ item }: { item: ResultItem }) {
  const { failure, ok } = item;
  const demo = useHello()?.demo_model === true;
  return (
    <div className="space-y-2">
      {failure !== undefined && (
        <ProblemNote
          quiet
          title={t.end.prompt.failed}
          problem={{ code: failure.subtype, kind: 'failed', message: failure.text }}
          circumstances={{ demo }}
        />
      )}
      <p className="flex flex-wrap items-center gap-x-1.5 text-xs text-muted tabular-nums">
        {ok && <Icon name="check" className="size-3.5 text-ok" />}
        {ok && <span className="sr-only">{t.feed.resultDone}: </span>}
        {resultFacts(item, demo).join(' · ')}
      </p>
    </div>
  );
}

export function Divider({ item }: { item: DividerItem }) {
  return (
    <div className="flex items-center gap-3 pt-4 text-xs font-medium text-muted">
      <span className="h-px flex-1 bg-line" />
      <span>{item.divider === 'session_created' ? t.feed.sessionCreated : t.feed.sessionReset}</span>
      <Clock at={item.at} />
      <span className="h-px flex-1 bg-line" />
    </div>
  );
}

export function LineRow({ item }: { item: LineItem }) {
  const demo = useHello()?.demo_model === true;
  if (item.line.of === 'retry' && item.line.live) return <RetryingRow line={item.line} />;
  const words = wordsOf(item.line, demo);
  return words === '' ? null : <p className="text-center text-xs wrap-anywhere text-muted">{words}</p>;
}

/** Counts down to the next attempt. */
function RetryingRow({ line }: { line: RetryLine }) {
  const now = useNow(1000);
  const { status, attempt, maxRetries } = line.retry;
  return (
    <p className="flex items-center justify-center gap-2 text-[0.8125rem] wrap-anywhere tabular-nums">
      <StatusDot tone="warn" />
      {t.feed.retrying(status, secondsLeft(line, now), attempt, maxRetries)}
    </p>
  );
}

export function GapRow({ item, session, busy }: { item: GapItem; session: ProjectSession; busy: boolean }) {
  return (
    <div className="flex items-center justify-center gap-3 rounded-lg border border-dashed border-edge/60 px-3 py-2 text-muted">
      {t.feed.gap(item.to - item.from + 1)}
      <Button size="small" disabled={busy} onClick={() => void session.fillGap(item)}>
        {busy ? t.feed.gapLoading : t.feed.gapLoad}
      </Button>
    </div>
  );
}

function wordsOf(line: LineItem['line'], demo: boolean): string {
  switch (line.of) {
    case 'init':
      return openingWords(line.model, line.mode, demo);
    case 'system':
      return line.text === '' ? '' : line.text;
    case 'retry': {
      const { status, attempt, maxRetries } = line.retry;
      return t.feed.retried(status, attempt, maxRetries);
    }
    case 'renamed':
      return t.feed.renamed(line.name);
    case 'sandbox_started':
      return t.feed.sandboxStarted(line.readyMs);
    case 'sandbox_lost':
      return t.feed.sandboxLost(line.reason);
    case 'unreadable':
      return t.feed.unreadable(line.type);
    default:
      return assertNever(line);
  }
}
