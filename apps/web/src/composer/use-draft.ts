// A text that survives a reload of the page until it is sent.
import { useCallback, useState } from 'react';
import { loadDraft, saveDraft } from './draft.js';

interface Draft {
  text: string;
  setText: (text: string) => void;
  /** False when the browser has no room for it. */
  kept: boolean;
}

export function useDraft(projectId: string, field: string): Draft {
  const [text, setShown] = useState(() => loadDraft(sessionStorage, projectId, field));
  const [kept, setKept] = useState(true);
  const setText = useCallback(
    (next: string) => {
      setShown(next);
      setKept(saveDraft(sessionStorage, projectId, field, next));
    },
    [projectId, field],
  );
  return { text, setText, kept };
}
