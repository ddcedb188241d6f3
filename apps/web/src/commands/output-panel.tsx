// The output of a command on a dark ground, live while it runs: stderr marked at its edge, colours kept, the newest in sight.
import { memo, useEffect, useRef } from 'react';
import { useWorkspace } from '../app/workspace-context.js';
import { type Command, isFinal } from '../state/commands.js';
import { t } from '../text/index.js';
import { CopyButton } from '../ui/copy-button.js';
import { ProblemNote } from '../ui/problem-note.js';
import { Spinner } from '../ui/spinner.js';
import { useStore } from '../ui/use-store.js';
import type { AnsiColor, AnsiStyle } from './ansi-style.js';
import type { OutputStream } from './output-stream.js';
import type { OutputView } from './output-view.js';
import { type Line, screenText, type Span } from './screen.js';

/** Of a finished command with more output than this, the end is shown first. Bytes. */
const TAIL_BYTES = 256 * 1024;
const NEAR_PX = 40;

export function OutputPanel({ command }: { command: Command }) {
  const workspace = useWorkspace();
  const begin = isFinal(command.status) ? Math.max(0, (command.endOffset ?? 0) - TAIL_BYTES) : 0;
  const stream = workspace.output(command.runId, begin);
  const { view, problem } = useStore(stream.state);
  useEffect(() => stream.follow(), [stream]);
  const scroller = useRef<HTMLDivElement>(null);
  useStayAtEnd(scroller, view);
  return (
    <div className="relative border-t border-line bg-term text-term-ink [color-scheme:dark]">
      <Head stream={stream} view={view} />
      <CopyButton
        text={() => screenText(view.screen)}
        label={t.commands.copyOutput}
        className="absolute top-1 right-2.5 bg-term-bar text-term-muted hover:text-term-ink"
      />
      {problem !== undefined && (
        <div className="p-2.5">
          <ProblemNote problem={problem} />
        </div>
      )}
      <div
        ref={scroller}
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={t.commands.output(command.shellCommand)}
        className="max-h-[26rem] overflow-auto px-3 py-2 font-mono text-xs leading-[1.55]"
        data-testid="output"
      >
        {shownLines(view).map((line) => (
          <LineView key={line.number} line={line} />
        ))}
        <Foot command={command} view={view} />
      </div>
    </div>
  );
}

function Head({ stream, view }: { stream: OutputStream; view: OutputView }) {
  const dropped = view.screen.lines[0]?.number ?? 0;
  if (view.skippedBytes === 0 && dropped === 0) return null;
  return (
    <p className="flex min-h-8 flex-wrap items-center gap-x-3 bg-term-bar py-1 pr-12 pl-3 text-xs text-term-muted">
      {dropped > 0 ? t.commands.linesDropped(dropped) : t.commands.skipped(view.skippedBytes)}
      {view.skippedBytes > 0 && (
        <button type="button" className="min-h-6 text-term-ink underline" onClick={() => void stream.restart(0)}>
          {t.commands.showAll}
        </button>
      )}
    </p>
  );
}

function Foot({ command, view }: { command: Command; view: OutputView }) {
  if (view.end === undefined) {
    return (
      <Spinner
        label={view.screen.lines.length === 0 && !isFinal(command.status) ? t.commands.noOutputYet : ''}
        className="size-3"
      />
    );
  }
  return view.nextOffset === 0 ? <p className="text-term-muted">{t.commands.noOutput}</p> : null;
}

/** The line after the last line feed is no line yet. */
function shownLines({ screen: { lines } }: OutputView): readonly Line[] {
  return lines.at(-1)?.length === 0 ? lines.slice(0, -1) : lines;
}

const LineView = memo(function LineView({ line }: { line: Line }) {
  const fromStderr = line.spans.some(({ channel }) => channel === 'stderr');
  return (
    <div
      className={`-ml-1.5 min-h-[1.55em] border-l-2 pl-1.5 wrap-anywhere whitespace-pre-wrap ${fromStderr ? 'border-[#e5736c]' : 'border-transparent'}`}
    >
      {fromStderr && <span className="sr-only">{t.commands.stderr}: </span>}
      {line.spans.map((span, index) => (
        <SpanView key={index} span={span} />
      ))}
    </div>
  );
});

function SpanView({ span: { text, style, channel } }: { span: Span }) {
  const { className, inline } = look(style);
  const plainError = channel === 'stderr' && className === '' && inline === undefined;
  return (
    <span className={plainError ? 'text-[#ffb3ad]' : className} style={inline}>
      {text}
    </span>
  );
}

/** Palette colours are classes, others are set directly; inverse swaps ground and text. */
function look(style: AnsiStyle): { className: string; inline: React.CSSProperties | undefined } {
  const [fg, bg] = style.inverse === true ? [style.bg ?? 0, style.fg ?? 7] : [style.fg, style.bg];
  const className = [
    colorClass('ansi-fg', fg),
    colorClass('ansi-bg', bg),
    style.bold === true && 'font-bold',
    style.dim === true && 'opacity-70',
    style.italic === true && 'italic',
    style.underline === true && 'underline',
    style.strike === true && 'line-through',
  ].filter(Boolean);
  const color = typeof fg === 'string' ? { color: fg } : undefined;
  const ground = typeof bg === 'string' ? { background: bg } : undefined;
  return { className: className.join(' '), inline: color || ground ? { ...color, ...ground } : undefined };
}

function colorClass(prefix: string, color: AnsiColor | undefined): string {
  return typeof color === 'number' ? `${prefix}-${color}` : '';
}

/** Follows new output for as long as its end is in sight. */
function useStayAtEnd(scroller: React.RefObject<HTMLDivElement | null>, view: OutputView): void {
  const atEnd = useRef(true);
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    const onScroll = (): void => {
      atEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX;
    };
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => element.removeEventListener('scroll', onScroll);
  }, [scroller]);
  useEffect(() => {
    if (atEnd.current && scroller.current !== null) scroller.current.scrollTop = scroller.current.scrollHeight;
  }, [scroller, view]);
}
