// The upper end of the feed: loads older history as it comes into sight, or says that there is none.
import { type RefObject, useEffect, useRef } from 'react';
import { useConnected } from '../app/workspace-context.js';
import type { ProjectView } from '../state/project-state.js';
import { t } from '../text/index.js';
import { Button } from '../ui/button.js';
import { Icon } from '../ui/icon.js';
import { ProblemNote } from '../ui/problem-note.js';
import { Spinner } from '../ui/spinner.js';
import type { ProjectSession } from '../workspace/project-session.js';

interface HistoryHeadProps {
  session: ProjectSession;
  view: ProjectView;
  scroller: RefObject<HTMLDivElement | null>;
  /** Nothing is shown below. */
  empty: boolean;
}

export function HistoryHead({ session, view, scroller, empty }: HistoryHeadProps) {
  const sentinel = useRef<HTMLDivElement>(null);
  const connected = useConnected();
  const { loading, log } = view;
  const none = log.ranges.length === 0;
  const more = !none && !log.reachesStart;
  const failed = typeof loading === 'object';
  const oldest = log.ranges[0]?.from;

  useEffect(() => {
    if (!more || failed || !connected || sentinel.current === null) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) void session.loadOlder();
      },
      { root: scroller.current, rootMargin: '400px 0px 0px 0px' },
    );
    observer.observe(sentinel.current);
    return () => observer.disconnect();
    // Observed anew after each page, so that a page too short to push the sentinel away loads the next.
  }, [more, failed, connected, session, scroller, oldest]);

  if (!more) return empty ? <EmptyFeed /> : <p className="mb-4 text-center text-xs text-muted">{t.feed.start}</p>;
  return (
    <div ref={sentinel} className="mb-4 flex justify-center">
      {failed ? (
        <ProblemNote problem={loading}>
          <Button size="small" className="mt-2" disabled={!connected} onClick={() => void session.loadOlder()}>
            {t.feed.older}
          </Button>
        </ProblemNote>
      ) : (
        <Spinner label={t.feed.loadingOlder} className="size-3" />
      )}
    </div>
  );
}

function EmptyFeed() {
  return (
    <div className="m-auto max-w-xs py-10 text-center">
      <Icon name="spark" className="mx-auto mb-3 size-8 text-accent" />
      <h2 className="text-base font-semibold">{t.feed.empty}</h2>
      <p className="text-muted">{t.feed.emptyHint}</p>
    </div>
  );
}
