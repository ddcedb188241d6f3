// Asks for the token, says where it is found, and what the server answered.
import { type FormEvent, useState } from 'react';
import type { ConnectionState } from '../connection/connection-state.js';
import { t } from '../text/index.js';
import { Button } from '../ui/button.js';
import { Field } from '../ui/field.js';
import { Icon } from '../ui/icon.js';
import { ProblemNote } from '../ui/problem-note.js';
import { Spinner } from '../ui/spinner.js';

interface SignInPageProps {
  connection: ConnectionState;
  onSignIn: (token: string) => void;
}

export function SignInPage({ connection, onSignIn }: SignInPageProps) {
  const [token, setToken] = useState('');
  const [shown, setShown] = useState(false);
  const busy = connection.status === 'connecting';
  const refused = connection.status === 'refused' ? connection.problem : undefined;
  const aboutToken = refused?.kind === 'unauthenticated';

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (token.trim() !== '') onSignIn(token.trim());
  };
  return (
    <main className="flex min-h-full items-center justify-center p-4">
      <div className="w-full max-w-sm space-y-6">
        <header className="space-y-1 text-center">
          <span className="mx-auto mb-3 flex size-12 items-center justify-center rounded-2xl bg-accent text-on-accent">
            <Icon name="gantry" className="size-7" />
          </span>
          <h1 className="text-2xl font-semibold tracking-tight">{t.product}</h1>
          <p className="text-muted">{t.tagline}</p>
        </header>
        <form
          onSubmit={submit}
          className="space-y-4 rounded-2xl border border-line bg-surface p-5 shadow-sm"
          aria-label={t.signIn.title}
        >
          <Field
            label={t.signIn.token}
            type={shown ? 'text' : 'password'}
            value={token}
            onChange={(event) => setToken(event.target.value)}
            autoComplete="current-password"
            autoFocus
            spellCheck={false}
            mono
            required
            problem={aboutToken ? refused : undefined}
            aside={
              <button
                type="button"
                className="text-[0.8125rem] text-accent hover:underline"
                onClick={() => setShown(!shown)}
              >
                {shown ? t.signIn.hide : t.signIn.show}
              </button>
            }
          />
          {refused !== undefined && !aboutToken && <ProblemNote problem={refused} title={t.connection.refused} />}
          {connection.status === 'reconnecting' && (
            <p role="alert" className="flex items-center gap-2 rounded-lg bg-warn-soft px-3 py-2 text-warn">
              <Spinner />
              {connection.problem?.message ?? t.signIn.unreachable}
            </p>
          )}
          <Button type="submit" look="primary" className="w-full" disabled={busy}>
            {busy ? t.signIn.busy : t.signIn.submit}
          </Button>
          <p className="text-[0.8125rem] text-muted">{t.signIn.kept}</p>
        </form>
        <section className="space-y-2 px-1 text-[0.8125rem] text-muted">
          <h2 className="font-medium text-ink">{t.signIn.where}</h2>
          <p>
            {t.signIn.whereBefore} <code className="font-mono text-ink">{t.signIn.whereMake}</code>{' '}
            {t.signIn.whereAfter}
          </p>
          <pre className="overflow-x-auto rounded-lg border border-line bg-sunken px-3 py-2 font-mono text-ink">
            {t.signIn.whereLine}
          </pre>
          <p>{t.signIn.whereAgain}</p>
        </section>
      </div>
    </main>
  );
}
