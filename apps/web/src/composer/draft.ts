// What a person was writing, kept per project until the server has it, so that a reload or a lost connection takes nothing.

/** The part of the browser's Storage that drafts need. */
export type DraftStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

const keyOf = (projectId: string, field: string): string => `gantry.draft.${field}.${projectId}`;

export function loadDraft(storage: DraftStorage, projectId: string, field: string): string {
  return storage.getItem(keyOf(projectId, field)) ?? '';
}

/** Gives false when the browser has no room: the text is still on the page, but a reload would lose it. */
export function saveDraft(storage: DraftStorage, projectId: string, field: string, text: string): boolean {
  const key = keyOf(projectId, field);
  if (text === '') {
    storage.removeItem(key);
    return true;
  }
  try {
    storage.setItem(key, text);
    return true;
  } catch (error) {
    if (error instanceof DOMException) return false; // QuotaExceededError, or storage forbidden by the person
    throw error;
  }
}
