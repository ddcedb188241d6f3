// A tool that the agent used: name and gist in one line; input and result when it is opened.
import type { ToolItem } from '../state/feed-item.js';
import { t } from '../text/index.js';
import { CopyButton } from '../ui/copy-button.js';
import { Icon } from '../ui/icon.js';
import { StatusDot, type Tone } from '../ui/status-dot.js';
import { InputView } from './input-view.js';
import { toolGist } from './tool-gist.js';

export function ToolCard({ item }: { item: ToolItem }) {
  const { tone, words } = stateOf(item);
  const alone = item.input === undefined && item.result !== undefined;
  return (
    <details className={`group rounded-lg border border-line bg-canvas ${item.nested ? 'ml-3' : ''}`}>
      <summary className="flex min-h-9 items-center gap-2 rounded-lg px-2.5 py-1.5 hover:bg-sunken">
        <Icon name="chevron" className="size-3.5 text-muted transition-transform group-open:rotate-90" />
        <span className="shrink-0 font-mono text-[0.8125rem] font-semibold">
          {item.input === undefined ? (alone ? t.feed.toolResultAlone : t.feed.writingTool) : item.name}
        </span>
        <span className="min-w-0 flex-1 truncate font-mono text-xs text-muted">
          {item.input && toolGist(item.input)}
        </span>
        <span className="inline-flex shrink-0 items-center gap-1.5 text-xs text-muted">
          <StatusDot tone={tone} />
          {words}
        </span>
      </summary>
      <div className="space-y-3 border-t border-line p-3">
        {item.input !== undefined && (
          <section aria-label={t.feed.toolInput}>
            <h3 className="mb-1 text-xs font-medium text-muted">{t.feed.toolInput}</h3>
            <InputView input={item.input} />
          </section>
        )}
        {item.input === undefined && item.draft !== '' && (
          <pre className="font-mono text-xs wrap-anywhere whitespace-pre-wrap">{item.draft}</pre>
        )}
        {item.result !== undefined && <ResultView item={item} />}
      </div>
    </details>
  );
}

function ResultView({ item: { result } }: { item: ToolItem }) {
  if (result === undefined) return null;
  const { text, isError, otherParts } = result;
  return (
    <section aria-label={t.feed.toolResult}>
      <h3 className="mb-1 flex h-7 items-center justify-between text-xs font-medium text-muted">
        {t.feed.toolResult}
        {text !== '' && <CopyButton text={() => text} className="hover:text-ink" />}
      </h3>
      <pre
        tabIndex={0}
        className={`max-h-96 overflow-auto rounded-lg border-l-2 bg-sunken p-2.5 font-mono text-xs wrap-anywhere whitespace-pre-wrap ${isError ? 'border-danger' : 'border-ok'}`}
      >
        {text === '' && otherParts === 0 ? <span className="text-muted">{t.feed.emptyResult}</span> : text}
        {otherParts > 0 && <span className="block text-muted">{t.feed.otherParts(otherParts)}</span>}
      </pre>
    </section>
  );
}

function stateOf({ input, result, asking, over }: ToolItem): { tone: Tone; words: string } {
  if (result !== undefined)
    return result.isError ? { tone: 'danger', words: t.feed.toolFailed } : { tone: 'ok', words: t.feed.toolOk };
  if (over) return { tone: 'idle', words: t.feed.toolNone };
  if (asking) return { tone: 'warn', words: t.feed.toolAsking };
  return { tone: 'busy', words: input === undefined ? '' : t.feed.toolRunning };
}
