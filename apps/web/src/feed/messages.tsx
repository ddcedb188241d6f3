// What people and the agent say.
import { useHello } from '../app/workspace-context.js';
import type { TextItem, ThinkingItem, UserItem } from '../state/feed-item.js';
import { t } from '../text/index.js';
import { Icon } from '../ui/icon.js';
import { MarkdownView } from '../ui/markdown-view.js';
import { visibleText } from '../ui/visible-text.js';
import { Clock } from '../ui/time.js';

export function UserMessage({ item }: { item: UserItem }) {
  const mine = useHello()?.user.user_id === item.userId;
  return (
    <article className="ml-auto flex max-w-[88%] flex-col items-end gap-1 pt-3">
      <p className="flex items-center gap-2 text-xs text-muted">
        <span className="font-medium">{mine ? t.user.you : visibleText(item.userName ?? t.user.teammate)}</span>
        {item.editedBy !== undefined && <span>{t.user.editedBy(visibleText(item.editedBy))}</span>}
        <Clock at={item.at} />
      </p>
      <div className="rounded-2xl rounded-tr-md bg-accent-soft px-3.5 py-2.5 wrap-anywhere whitespace-pre-wrap">
        {item.text}
      </div>
    </article>
  );
}

/** Stands where the agent begins to speak. */
export function AgentName({ at }: { at: string | undefined }) {
  return (
    <p className="-mb-2 flex items-center gap-2 text-xs text-muted">
      <Icon name="spark" className="size-3.5 text-accent" />
      <span className="font-medium">{t.feed.assistant}</span>
      <Clock at={at} />
    </p>
  );
}

export function AssistantText({ item }: { item: TextItem }) {
  return (
    <article aria-busy={item.streaming} className={item.nested ? 'border-l-2 border-line pl-3' : undefined}>
      {item.nested && <p className="mb-1 text-xs font-medium text-muted">{t.feed.subagent}</p>}
      <div className={item.streaming ? 'writing' : undefined}>
        <MarkdownView text={item.text} />
      </div>
    </article>
  );
}

export function ThinkingBlock({ item }: { item: ThinkingItem }) {
  return (
    <details className="group rounded-lg text-muted">
      <summary className="inline-flex items-center gap-1.5 rounded-md py-0.5 pr-2 text-[0.8125rem] hover:text-ink">
        <Icon name="chevron" className="size-3.5 transition-transform group-open:rotate-90" />
        <span className={item.streaming ? 'animate-pulse-soft' : undefined}>
          {item.streaming ? t.feed.thinkingNow : t.feed.thought}
        </span>
      </summary>
      <div className="mt-1 ml-1.5 border-l-2 border-line py-1 pl-4 text-[0.8125rem] wrap-anywhere whitespace-pre-wrap">
        {item.text}
      </div>
    </details>
  );
}
