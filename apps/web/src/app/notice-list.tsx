// Notices in the corner. Words go away by themselves, errors stay until they are dismissed.
import { useEffect } from 'react';
import { t } from '../text/index.js';
import { IconButton } from '../ui/button.js';
import { ProblemNote } from '../ui/problem-note.js';
import { useStore } from '../ui/use-store.js';
import type { Notice } from '../workspace/notices.js';
import { useWorkspace } from './workspace-context.js';

const SHOWN_MS = 8000;

export function NoticeList() {
  const { notices } = useWorkspace();
  const list = useStore(notices.list);
  return (
    <div
      role="status"
      aria-live="polite"
      className="pointer-events-none fixed inset-x-3 top-16 z-20 flex flex-col items-end gap-2 sm:left-auto sm:w-96"
    >
      {list.map((notice) => (
        <NoticeView key={notice.id} notice={notice} />
      ))}
    </div>
  );
}

function NoticeView({ notice }: { notice: Notice }) {
  const { notices } = useWorkspace();
  const { id, problem } = notice;
  useEffect(() => {
    if (problem !== undefined) return undefined;
    const timer = setTimeout(() => notices.dismiss(id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [notices, id, problem]);
  return (
    <div className="pointer-events-auto relative w-full animate-appear rounded-xl border border-line bg-surface shadow-lg">
      {problem === undefined ? <p className="py-3 pr-12 pl-4">{notice.text}</p> : <ProblemNote problem={problem} />}
      <IconButton
        icon="close"
        label={t.problem.dismiss}
        className="absolute top-1 right-1"
        onClick={() => notices.dismiss(id)}
      />
    </div>
  );
}
