// Where prompts are written and sent; also the buttons that stop the running one and begin a new conversation.
import { DEFAULT_LANE } from '#kernel';
import { type KeyboardEvent, useId, useState } from 'react';
import { useConnected, useHello, useWorkspace } from '../app/workspace-context.js';
import { type Problem, problemOf } from '../state/problem.js';
import type { ProjectView } from '../state/project-state.js';
import { activeRuns } from '../state/runs.js';
import { t } from '../text/index.js';
import { Button } from '../ui/button.js';
import { ProblemNote } from '../ui/problem-note.js';
import { ActiveRunBar } from './active-run-bar.js';
import { byteLength } from './byte-length.js';
import { useAutoGrow } from './use-auto-grow.js';
import { useDraft } from './use-draft.js';

export function Composer({ projectId, view }: { projectId: string; view: ProjectView }) {
  const workspace = useWorkspace();
  const connected = useConnected();
  const limit = useHello()?.limits.max_prompt_bytes ?? Infinity;
  const { text, setText, kept } = useDraft(projectId, 'prompt');
  const [sending, setSending] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const area = useAutoGrow(text);
  const hintId = useId();
  const bytes = byteLength(text);
  const active = activeRuns(view).find(({ lane }) => lane === DEFAULT_LANE);

  const hindrance = !connected ? t.composer.offline : bytes > limit ? t.composer.tooLong(bytes, limit) : undefined;
  const sendable = hindrance === undefined && !sending && text.trim() !== '';
  const send = async (): Promise<void> => {
    if (!sendable) return;
    setSending(true);
    setProblem(undefined);
    try {
      await workspace.sendPrompt(projectId, text);
      setText('');
    } catch (error) {
      setProblem(problemOf(error)); // the draft is still there
    }
    setSending(false);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // While an input method composes a character, Enter accepts it.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void send();
  };
  return (
    <section aria-label={t.composer.label} className="space-y-2">
      {active !== undefined && <ActiveRunBar run={active} />}
      {problem !== undefined && <ProblemNote problem={problem} />}
      <div className="rounded-2xl border border-edge bg-surface focus-within:border-accent focus-within:ring-1 focus-within:ring-accent">
        <textarea
          ref={area}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
          readOnly={sending}
          rows={1}
          aria-label={t.composer.label}
          aria-describedby={hintId}
          placeholder={t.composer.placeholder}
          className="block max-h-[35dvh] w-full resize-none bg-transparent px-4 pt-3 pb-1 text-base outline-none placeholder:text-muted/80 sm:text-sm"
        />
        <p id={hintId} className="px-4 text-xs text-warn empty:hidden">
          {hindrance ?? (kept ? '' : t.composer.notKept)}
        </p>
        <div className="flex items-center gap-2 px-2 pt-1 pb-2">
          <NewConversationButton projectId={projectId} />
          <p className="hidden min-w-0 flex-1 truncate px-1 text-xs text-muted sm:block">{t.composer.hint}</p>
          <span className="flex-1 sm:hidden" />
          <Button
            look="primary"
            size="small"
            icon="send"
            disabled={!sendable}
            reason={hindrance}
            onClick={() => void send()}
          >
            {sending ? t.composer.sending : t.composer.send}
          </Button>
        </div>
      </div>
    </section>
  );
}

function NewConversationButton({ projectId }: { projectId: string }) {
  const workspace = useWorkspace();
  const connected = useConnected();
  const begin = async (): Promise<void> => {
    try {
      await workspace.newConversation(projectId);
      workspace.notices.tell(t.composer.newConversationDone);
    } catch (error) {
      workspace.notices.report(error);
    }
  };
  return (
    <Button look="quiet" size="small" icon="plus" disabled={!connected} onClick={() => void begin()}>
      {t.composer.newConversation}
    </Button>
  );
}
