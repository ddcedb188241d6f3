// A labelled input with its hint and its error, tied together for screen readers.
import { type InputHTMLAttributes, useId } from 'react';
import type { Problem } from '../state/problem.js';
import type { Circumstances } from '../text/error-advice.js';
import { ProblemNote } from './problem-note.js';

interface FieldProps extends InputHTMLAttributes<HTMLInputElement> {
  label: string;
  hint?: string;
  problem?: Problem | undefined;
  circumstances?: Circumstances;
  /** Beside the label, for example a button. */
  aside?: React.ReactNode;
  mono?: boolean;
}

export function Field({ label, hint, problem, circumstances, aside, mono = false, ...input }: FieldProps) {
  const id = useId();
  const described = [hint !== undefined && `${id}-hint`, problem !== undefined && `${id}-problem`].filter(Boolean);
  return (
    <div className="space-y-1.5">
      <div className="flex items-center justify-between gap-2">
        <label htmlFor={id} className="font-medium">
          {label}
        </label>
        {aside}
      </div>
      <input
        id={id}
        aria-invalid={problem !== undefined}
        aria-describedby={described.length > 0 ? described.join(' ') : undefined}
        className={`h-10 w-full rounded-lg border border-edge bg-surface px-3 text-base placeholder:text-muted/80 aria-invalid:border-danger sm:text-sm ${mono ? 'font-mono' : ''}`}
        {...input}
      />
      {hint !== undefined && (
        <p id={`${id}-hint`} className="text-[0.8125rem] wrap-anywhere text-muted">
          {hint}
        </p>
      )}
      {problem !== undefined && <ProblemNote id={`${id}-problem`} problem={problem} circumstances={circumstances} />}
    </div>
  );
}
