// The feed: everything that happened in the project, oldest first. Stays at the newest unless somebody reads further up.
import { memo, useMemo } from 'react';
import { newestSeq, oldestSeq } from '../state/event-log.js';
import { durableFeed, partialFeed } from '../state/feed.js';
import type { FeedItem } from '../state/feed-item.js';
import type { ProjectView } from '../state/project-state.js';
import { splitWaiting } from '../state/held-prompts.js';
import { withoutAnswered } from '../state/retry-rows.js';
import { t } from '../text/index.js';
import { Icon } from '../ui/icon.js';
import type { ProjectSession } from '../workspace/project-session.js';
import { FeedItemView } from './feed-item-view.js';
import { HistoryHead } from './history-head.js';
import { useFollowing } from './use-following.js';

export function Feed({ session, view }: { session: ProjectSession; view: ProjectView }) {
  const whole = useMemo(() => durableFeed(view.log), [view.log]);
  const partial = useMemo(() => partialFeed(view.partials), [view.partials]);
  const writers = [...new Set(view.partials.map(({ runId }) => runId))].join(' ');
  const { told, waiting } = useMemo(() => {
    const writing = new Set(writers.split(' '));
    return splitWaiting(withoutAnswered(whole, writing), writing);
  }, [whole, writers]);
  const { scroller, content, following, hasNew, jump } = useFollowing(oldestSeq(view.log), newestSeq(view.log));
  const writing = partial.length > 0;
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroller}
        className="h-full overflow-y-auto [overflow-anchor:none]"
        tabIndex={0}
        role="region"
        aria-label={t.feed.label}
      >
        <div ref={content} className="mx-auto flex min-h-full w-full max-w-3xl flex-col px-3 py-4 sm:px-5">
          <HistoryHead session={session} view={view} scroller={scroller} empty={whole.length + partial.length === 0} />
          <div
            role="log"
            aria-live="polite"
            aria-relevant="additions"
            aria-busy={writing}
            className="flex flex-col gap-3"
          >
            <Items items={told} before={undefined} session={session} view={view} />
            <Items items={partial} before={told.at(-1)} session={session} view={view} />
            <Items items={waiting} before={partial.at(-1) ?? told.at(-1)} session={session} view={view} />
          </div>
        </div>
      </div>
      <p className="sr-only" role="status">
        {writing ? t.feed.writing : ''}
      </p>
      {!following && (
        <button
          type="button"
          onClick={jump}
          className="absolute bottom-3 left-1/2 inline-flex h-9 -translate-x-1/2 animate-appear items-center gap-1.5 rounded-full border border-edge/60 bg-surface px-3.5 font-medium shadow-md hover:bg-sunken"
        >
          <Icon name="down" />
          {hasNew ? t.feed.jumpToNew : t.feed.jump}
        </button>
      )}
    </div>
  );
}

interface ItemsProps {
  items: readonly FeedItem[];
  /** The item that stands before the first of these. */
  before: FeedItem | undefined;
  session: ProjectSession;
  view: ProjectView;
}

/** Rendered anew only when its items are, not for every delta. */
const Items = memo(
  function Items({ items, before, session, view }: ItemsProps) {
    return items.map((item, index) => (
      <FeedItemView
        key={item.key}
        item={item}
        before={index === 0 ? before : items[index - 1]}
        session={session}
        view={view}
      />
    ));
  },
  (a, b) =>
    a.items === b.items && a.before === b.before && a.session === b.session && a.view.loading === b.view.loading,
);
