// Chooses how an item of the feed is shown.
import { assertNever, ERROR_CODES, type ErrorCode, type ErrorKind } from '#kernel';
import { memo } from 'react';
import { useHello } from '../app/workspace-context.js';
import { CommandInFeed } from '../commands/command-in-feed.js';
import { PermissionLine } from '../permissions/permission-line.js';
import type { EndItem, FeedItem } from '../state/feed-item.js';
import type { ProjectView } from '../state/project-state.js';
import { t } from '../text/index.js';
import { ProblemNote } from '../ui/problem-note.js';
import type { ProjectSession } from '../workspace/project-session.js';
import { AgentName, AssistantText, ThinkingBlock, UserMessage } from './messages.js';
import { Divider, GapRow, LineRow, ResultRow } from './rows.js';
import { ToolCard } from './tool-card.js';

interface FeedItemViewProps {
  item: FeedItem;
  before: FeedItem | undefined;
  session: ProjectSession;
  view: ProjectView;
}

export const FeedItemView = memo(
  function FeedItemView({ item, before, session, view }: FeedItemViewProps) {
    const begins = speaks(item) && !speaks(before);
    return (
      <>
        {begins && <AgentName at={item.at} />}
        <ItemBody item={item} session={session} view={view} />
      </>
    );
  },
  (a, b) =>
    sameItem(a.item, b.item) && speaks(a.before) === speaks(b.before) && (a.item.kind !== 'gap' || a.view === b.view),
);

function ItemBody({ item, session, view }: Omit<FeedItemViewProps, 'before'>) {
  switch (item.kind) {
    case 'user':
      return <UserMessage item={item} />;
    case 'text':
      return <AssistantText item={item} />;
    case 'thinking':
      return <ThinkingBlock item={item} />;
    case 'tool':
      return <ToolCard item={item} />;
    case 'permission':
      return <PermissionLine item={item} />;
    case 'result':
      return <ResultRow item={item} />;
    case 'command':
      return <CommandInFeed runId={item.runId} session={session} />;
    case 'end':
      return <EndNote item={item} />;
    case 'divider':
      return <Divider item={item} />;
    case 'line':
      return <LineRow item={item} />;
    case 'gap':
      return <GapRow item={item} session={session} busy={view.loading === 'busy'} />;
    default:
      return assertNever(item);
  }
}

function EndNote({ item }: { item: EndItem }) {
  const demo = useHello()?.demo_model === true;
  const title = t.end[item.runKind][item.status];
  if (item.status === 'cancelled' || item.error === undefined) {
    return <p className="text-center text-xs font-medium text-muted">{title}</p>;
  }
  return (
    <ProblemNote
      quiet
      title={title}
      problem={{ ...item.error, kind: kindOf(item.error.code) }}
      circumstances={{ demo }}
    />
  );
}

function kindOf(code: string): ErrorKind {
  return Object.hasOwn(ERROR_CODES, code) ? ERROR_CODES[code as ErrorCode] : 'failed';
}

/** Whether the agent is already speaking, so that its name need not be said again. */
function speaks(item: FeedItem | undefined): boolean {
  return (
    item !== undefined &&
    (item.kind === 'text' || item.kind === 'thinking' || item.kind === 'tool' || item.kind === 'permission')
  );
}

/** Items are made anew with every event; one whose fields are the same need not be rendered again. */
function sameItem(a: FeedItem, b: FeedItem): boolean {
  const left = Object.entries(a);
  const right = b as unknown as Record<string, unknown>;
  return left.length === Object.keys(b).length && left.every(([key, value]) => Object.is(value, right[key]));
}
