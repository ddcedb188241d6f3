// Shell commands of the project: a line to run one, and all that were run, newest first.
import { type FormEvent, useEffect, useState } from 'react';
import { useConnected, useWorkspace } from '../app/workspace-context.js';
import { useDraft } from '../composer/use-draft.js';
import { commandsOf, newestCommands } from '../state/commands.js';
import { type Problem, problemOf } from '../state/problem.js';
import type { ProjectView } from '../state/project-state.js';
import { t } from '../text/index.js';
import { Button } from '../ui/button.js';
import { Icon } from '../ui/icon.js';
import { ProblemNote } from '../ui/problem-note.js';
import { Spinner } from '../ui/spinner.js';
import type { ProjectSession } from '../workspace/project-session.js';
import { CommandCard } from './command-card.js';

export function CommandsTab({ session, view }: { session: ProjectSession; view: ProjectView }) {
  const connected = useConnected();
  const commands = newestCommands(commandsOf(view));
  const { text, setText } = useDraft(session.projectId, 'command');
  useEffect(() => {
    if (connected) void session.loadCommandHistory();
  }, [session, connected]);
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      <div className="mx-auto w-full max-w-4xl space-y-4 px-3 py-4 sm:px-5">
        <RunForm projectId={session.projectId} text={text} setText={setText} />
        {commands.length === 0 && (
          <div className="py-10 text-center">
            {view.commandHistory === undefined ? (
              <Spinner label={t.commands.loading} />
            ) : (
              <>
                <Icon name="terminal" className="mx-auto mb-3 size-8 text-accent" />
                <h2 className="text-base font-semibold">{t.commands.empty}</h2>
                <p className="text-muted">{t.commands.emptyHint}</p>
              </>
            )}
          </div>
        )}
        <ol aria-label={t.commands.history} className="space-y-2.5">
          {commands.map((command, index) => (
            <li key={command.runId}>
              <CommandCard command={command} startsOpen={index === 0} onAgain={() => setText(command.shellCommand)} />
            </li>
          ))}
        </ol>
      </div>
    </div>
  );
}

function RunForm({ projectId, text, setText }: { projectId: string; text: string; setText: (text: string) => void }) {
  const workspace = useWorkspace();
  const connected = useConnected();
  const [parallel, setParallel] = useState(false);
  const [sending, setSending] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const run = async (): Promise<void> => {
    if (text.trim() === '' || sending) return;
    setSending(true);
    setProblem(undefined);
    try {
      await workspace.runCommand(projectId, text, parallel);
      setText('');
    } catch (error) {
      setProblem(problemOf(error));
    }
    setSending(false);
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void run();
  };
  return (
    <form onSubmit={submit} className="space-y-2">
      <div className="flex gap-2">
        <label className="flex h-10 min-w-0 flex-1 items-center gap-2 rounded-lg border border-edge bg-surface px-3 font-mono focus-within:border-accent focus-within:ring-1 focus-within:ring-accent">
          <span aria-hidden="true" className="text-accent select-none">
            $
          </span>
          <span className="sr-only">{t.commands.label}</span>
          <input
            value={text}
            onChange={(event) => setText(event.target.value)}
            placeholder={t.commands.placeholder}
            readOnly={sending}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            className="min-w-0 flex-1 bg-transparent text-base outline-none placeholder:text-muted/80 sm:text-[0.8125rem]"
          />
        </label>
        <Button
          type="submit"
          look="primary"
          reason={connected ? undefined : t.composer.offline}
          disabled={sending || text.trim() === ''}
        >
          {sending ? t.commands.running : t.commands.run}
        </Button>
      </div>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 px-1 text-[0.8125rem]">
        <label className="inline-flex min-h-6 items-center gap-2">
          <input
            type="checkbox"
            checked={parallel}
            onChange={(event) => setParallel(event.target.checked)}
            className="size-4 accent-accent"
          />
          {t.commands.parallel}
        </label>
        <span className={connected ? 'text-muted' : 'text-warn'}>
          {connected ? t.commands.parallelHint : t.composer.offline}
        </span>
      </div>
      {problem !== undefined && <ProblemNote problem={problem} />}
    </form>
  );
}
