// What a reloaded page shows until the server answers.
import type { ConnectionState } from '../connection/connection-state.js';
import { t } from '../text/index.js';
import { Button } from '../ui/button.js';
import { Icon } from '../ui/icon.js';
import { Spinner } from '../ui/spinner.js';

export function Splash({ connection, onSignOut }: { connection: ConnectionState; onSignOut: () => void }) {
  const lost = connection.status === 'reconnecting' ? connection : undefined;
  return (
    <main className="flex min-h-full flex-col items-center justify-center gap-4 p-6 text-center">
      <span className="flex size-12 items-center justify-center rounded-2xl bg-accent text-on-accent">
        <Icon name="gantry" className="size-7" />
      </span>
      <Spinner label={lost === undefined ? t.connection.connecting : (lost.problem?.message ?? t.signIn.unreachable)} />
      {lost !== undefined && <Button onClick={onSignOut}>{t.user.signOut}</Button>}
    </main>
  );
}
