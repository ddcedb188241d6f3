// The page: signing in, or the workspace of the person who did.
import { useEffect } from 'react';
import { type ConnectionState, lastHello } from '../connection/connection-state.js';
import { SignInPage } from '../sign-in/sign-in-page.js';
import { createStore } from '../state/store.js';
import { useStore } from '../ui/use-store.js';
import { Shell } from './shell.js';
import { Splash } from './splash.js';
import { useAccount } from './use-account.js';
import { WorkspaceContext } from './workspace-context.js';

const SIGNED_OUT = createStore((state: ConnectionState) => state, { status: 'closed' });

export function App() {
  const { workspace, resuming, signIn, signOut, forgetToken } = useAccount();
  const connection = useStore(workspace?.connection.state ?? SIGNED_OUT);
  const wrongToken = connection.status === 'refused' && connection.problem.kind === 'unauthenticated';
  useEffect(() => {
    if (wrongToken) forgetToken();
  }, [wrongToken, forgetToken]);

  if (workspace !== undefined && lastHello(connection) !== undefined) {
    return (
      <WorkspaceContext value={workspace}>
        <Shell onSignOut={signOut} />
      </WorkspaceContext>
    );
  }
  if (resuming && connection.status !== 'refused') return <Splash connection={connection} onSignOut={signOut} />;
  return <SignInPage connection={connection} onSignIn={signIn} />;
}
