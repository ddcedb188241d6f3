// Gives every component the workspace of the person who is signed in.
import { createContext, useContext } from 'react';
import type { ConnectionState, Hello } from '../connection/connection-state.js';
import { lastHello } from '../connection/connection-state.js';
import { useStore } from '../ui/use-store.js';
import type { Workspace } from '../workspace/workspace.js';

export const WorkspaceContext = createContext<Workspace | undefined>(undefined);

export function useWorkspace(): Workspace {
  const workspace = useContext(WorkspaceContext);
  if (workspace === undefined) throw new Error('useWorkspace needs a WorkspaceContext');
  return workspace;
}

export function useConnection(): ConnectionState {
  return useStore(useWorkspace().connection.state);
}

export function useConnected(): boolean {
  return useConnection().status === 'connected';
}

/** What the server said of itself and of the person; undefined before the first connection. */
export function useHello(): Hello | undefined {
  return lastHello(useConnection());
}
