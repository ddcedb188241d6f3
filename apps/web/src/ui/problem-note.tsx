// An error on the page: what happened, what to do, and the code and reference for those who look further.
import { adviceFor, type Circumstances, messageOf } from '../text/error-advice.js';
import { t } from '../text/index.js';
import type { Problem } from '../state/problem.js';
import { Icon } from './icon.js';

interface ProblemNoteProps {
  problem: Pick<Problem, 'code' | 'kind' | 'message' | 'correlationId'>;
  circumstances?: Circumstances;
  title?: string;
  id?: string;
  /** In the feed nobody is waiting for it, so that it is not called out. */
  quiet?: boolean;
  children?: React.ReactNode;
}

/** Kinds that somebody may have to look up in the server's log. */
const REFERENCED = new Set<Problem['kind']>(['unavailable', 'timeout', 'internal']);

export function ProblemNote({ problem, circumstances, title, id, quiet = false, children }: ProblemNoteProps) {
  const message = messageOf(problem);
  return (
    <div
      id={id}
      role={quiet ? undefined : 'alert'}
      className="flex gap-2.5 rounded-lg border border-danger-line bg-danger-soft px-3 py-2.5 text-ink"
    >
      <Icon name="alert" className="mt-0.5 size-4 text-danger" />
      <div className="min-w-0 flex-1 space-y-0.5">
        {title !== undefined && <p className="font-semibold text-danger">{title}</p>}
        {message !== '' && <p className="font-medium wrap-anywhere">{message}</p>}
        <p className="text-muted">{adviceFor(problem, circumstances)}</p>
        <p className="pt-0.5 font-mono text-xs wrap-anywhere text-muted">
          <span className="sr-only">{t.problem.code} </span>
          {problem.code}
          {REFERENCED.has(problem.kind) && problem.correlationId !== undefined && (
            <span>
              {' · '}
              {t.problem.correlation} {problem.correlationId}
            </span>
          )}
        </p>
        {children}
      </div>
    </div>
  );
}
