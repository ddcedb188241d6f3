// Who is signed in: the token in this tab's storage, and the workspace that it opens.
import { useCallback, useEffect, useState } from 'react';
import { Workspace } from '../workspace/workspace.js';

const TOKEN_KEY = 'gantry.token';

export interface Account {
  readonly workspace: Workspace | undefined;
  /** The token was there when the page was loaded: nobody is to be asked for it unless it is refused. */
  readonly resuming: boolean;
  /** Signs in with a token, again with the same one too. */
  readonly signIn: (token: string) => void;
  /** Forgets the token and everything that the page held. */
  readonly signOut: () => void;
  /** Forgets the token for the next reload; what the page shows stays. */
  readonly forgetToken: () => void;
}

export function useAccount(): Account {
  const [attempt, setAttempt] = useState(() => ({ token: sessionStorage.getItem(TOKEN_KEY), stored: true }));
  const [workspace, setWorkspace] = useState<Workspace>();

  useEffect(() => {
    if (attempt.token === null) return undefined;
    const opened = new Workspace(window.location.origin, attempt.token);
    opened.open();
    setWorkspace(opened);
    return () => {
      opened.close();
      setWorkspace(undefined);
    };
  }, [attempt]);

  const signIn = useCallback((token: string) => {
    sessionStorage.setItem(TOKEN_KEY, token);
    setAttempt({ token, stored: false });
  }, []);
  const forgetToken = useCallback(() => sessionStorage.removeItem(TOKEN_KEY), []);
  const signOut = useCallback(() => {
    sessionStorage.clear(); // drafts too
    setAttempt({ token: null, stored: false });
  }, []);
  const resuming = attempt.stored && attempt.token !== null;
  return { workspace, resuming, signIn, signOut, forgetToken };
}
