// Who is signed in, whether the connection stands, and the way out.
import type { ConnectionState } from '../connection/connection-state.js';
import { t } from '../text/index.js';
import { IconButton } from '../ui/button.js';
import { StatusDot, type Tone } from '../ui/status-dot.js';
import { useConnection, useHello } from './workspace-context.js';

const TONES: Record<ConnectionState['status'], Tone> = {
  connecting: 'busy',
  connected: 'ok',
  reconnecting: 'warn',
  refused: 'danger',
  closed: 'idle',
};

export function UserFooter({ onSignOut }: { onSignOut: () => void }) {
  const { status } = useConnection();
  const hello = useHello();
  const words =
    status === 'connected'
      ? t.connection.connected
      : status === 'reconnecting'
        ? t.connection.reconnecting
        : t.connection.connecting;
  return (
    <footer className="flex shrink-0 items-center gap-2 border-t border-line px-4 py-2">
      <div className="min-w-0 flex-1">
        <p className="truncate font-medium">{hello?.user.name}</p>
        <p className="flex items-center gap-1.5 text-xs text-muted">
          <StatusDot tone={TONES[status]} />
          <span>{words}</span>
          {hello !== undefined && <span className="truncate">· {t.connection.version(hello.version)}</span>}
        </p>
      </div>
      <IconButton icon="out" label={t.user.signOut} onClick={onSignOut} />
    </footer>
  );
}
