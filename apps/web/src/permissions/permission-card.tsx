// One question of the agent: the tool, exactly what it would be given, and the answer. The hash sent back is that of this input.
import type { PermissionInfo } from '#protocol';
import { useState } from 'react';
import { useConnected, useHello, useWorkspace } from '../app/workspace-context.js';
import { InputView } from '../feed/input-view.js';
import { toolGist } from '../feed/tool-gist.js';
import { answerKeyOf } from '../state/permissions.js';
import { type Problem, problemOf } from '../state/problem.js';
import { t } from '../text/index.js';
import { Button } from '../ui/button.js';
import { Icon } from '../ui/icon.js';
import { ProblemNote } from '../ui/problem-note.js';
import { visibleText } from '../ui/visible-text.js';
import { useWholeRequest, type WholeRequest } from './use-whole-request.js';

/** `folded`: others come first; it can be opened and answered all the same. */
export function PermissionCard({ request: asked, folded = false }: { request: PermissionInfo; folded?: boolean }) {
  const { request, problem, load } = useWholeRequest(asked);
  const hidden = hasHidden(request.input);
  const empty = Object.keys(request.input).length === 0;
  return (
    <details
      open={!folded}
      className="group animate-appear overflow-hidden rounded-xl border border-warn-line bg-warn-soft"
      data-testid="permission"
    >
      <summary className="flex min-h-10 items-center gap-2 px-3 py-2">
        <Icon name="question" className="size-[1.125rem] text-warn" />
        <span className="shrink-0 font-semibold">{t.permission.title(visibleText(request.tool_name))}</span>
        <span className="min-w-0 flex-1 truncate font-mono text-xs text-muted group-open:invisible">
          {visibleText(toolGist(request.input))}
        </span>
        <Icon name="chevron" className="size-4 text-muted transition-transform group-open:rotate-90" />
      </summary>
      <div className="space-y-3 px-3 pb-3">
        {empty ? (
          <p className="text-muted">{t.permission.noInput}</p>
        ) : (
          <div className="space-y-1">
            {request.truncated !== true && <p className="text-xs text-muted">{t.permission.input}</p>}
            <InputView input={request.input} tall />
          </div>
        )}
        {hidden && (
          <p className="flex items-center gap-2 font-medium text-danger">
            <Icon name="alert" /> {t.permission.hidden}
          </p>
        )}
        {answerKeyOf(request) === undefined ? (
          <PartNote problem={problem} load={load} />
        ) : (
          <AnswerForm request={request} />
        )}
      </div>
    </details>
  );
}

/** Stands where the answer would be given while not all of the input is there. */
function PartNote({ problem, load }: Pick<WholeRequest, 'problem' | 'load'>) {
  if (problem === undefined) return <p className="text-muted">{t.permission.loadingWhole}</p>;
  return (
    <>
      <ProblemNote problem={problem} />
      <p className="font-medium text-danger">{t.permission.onlyPart}</p>
      <Button look="quiet" size="small" onClick={load}>
        {t.permission.loadAgain}
      </Button>
    </>
  );
}

function AnswerForm({ request }: { request: PermissionInfo }) {
  const { notices, answerPermission } = useAnswering();
  const me = useHello()?.user.user_id;
  const connected = useConnected();
  const [message, setMessage] = useState<string>();
  const [sending, setSending] = useState(false);
  const [problem, setProblem] = useState<Problem>();

  const answer = async (behavior: 'allow' | 'deny'): Promise<void> => {
    const key = answerKeyOf(request);
    if (key === undefined) return;
    setSending(true);
    setProblem(undefined);
    try {
      const said =
        behavior === 'deny' && message !== undefined && message.trim() !== '' ? { message: message.trim() } : {};
      const { first, answered_by: by } = await answerPermission({ ...key, behavior, ...said });
      if (!first && by !== undefined && by.user_id !== me) {
        notices.tell(t.permission.first(by.name, request.tool_name));
      }
    } catch (error) {
      setProblem(problemOf(error));
    }
    setSending(false); // the card goes when the server says that the question is closed
  };
  const blocked = sending || !connected;
  return (
    <>
      {message !== undefined && (
        <label className="block space-y-1">
          <span className="text-xs text-muted">{t.permission.message}</span>
          <textarea
            value={message}
            onChange={(event) => setMessage(event.target.value)}
            placeholder={t.permission.messageHint}
            maxLength={4000}
            rows={2}
            autoFocus
            className="w-full rounded-lg border border-edge bg-surface px-3 py-2 text-base sm:text-sm"
          />
        </label>
      )}
      {problem !== undefined && <ProblemNote problem={problem} />}
      <div className="flex flex-wrap items-center gap-2">
        <Button look="primary" size="small" icon="check" disabled={blocked} onClick={() => void answer('allow')}>
          {t.permission.allow}
        </Button>
        <Button look="danger" size="small" icon="close" disabled={blocked} onClick={() => void answer('deny')}>
          {t.permission.deny}
        </Button>
        {message === undefined && (
          <Button look="quiet" size="small" onClick={() => setMessage('')}>
            {t.permission.addMessage}
          </Button>
        )}
        {!connected && <p className="text-xs text-muted">{t.permission.offline}</p>}
        {sending && <p className="text-xs text-muted">{t.permission.sending}</p>}
      </div>
    </>
  );
}

function useAnswering() {
  const workspace = useWorkspace();
  return { notices: workspace.notices, answerPermission: workspace.answerPermission.bind(workspace) };
}

function hasHidden(value: unknown): boolean {
  if (typeof value === 'string') return visibleText(value) !== value;
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, inner]) => visibleText(key) !== key || hasHidden(inner));
}
