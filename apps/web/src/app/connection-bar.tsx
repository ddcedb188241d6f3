// Says across the whole page that the connection is gone, and when it is tried again.
import { t } from '../text/index.js';
import { Button } from '../ui/button.js';
import { Icon } from '../ui/icon.js';
import { useNow } from '../ui/use-now.js';
import { useConnection, useWorkspace } from './workspace-context.js';

export function ConnectionBar() {
  const connection = useConnection();
  const { connection: socket } = useWorkspace();
  const now = useNow(1000, connection.status === 'reconnecting');
  const lost = connection.status === 'reconnecting' ? connection : undefined;
  const seconds = lost?.retryAt === undefined ? 0 : Math.max(0, Math.ceil((lost.retryAt - now) / 1000));
  return (
    <div role="status" aria-live="polite" className="contents">
      {lost !== undefined && (
        <div className="flex shrink-0 animate-appear items-center gap-2.5 border-b border-warn-line bg-warn-soft px-4 py-2 text-warn">
          <Icon name="alert" />
          <p className="min-w-0 flex-1">
            <span className="sr-only">{t.connection.reconnecting}</span>
            <span aria-hidden="true" className="font-medium">
              {seconds === 0 ? t.connection.retrying : t.connection.retryIn(seconds)}
            </span>{' '}
            <span className="hidden text-ink sm:inline">{lost.problem?.message ?? t.connection.kept}</span>
          </p>
          <Button size="small" icon="refresh" onClick={() => socket.retryNow()}>
            {t.connection.retryNow}
          </Button>
        </div>
      )}
    </div>
  );
}
