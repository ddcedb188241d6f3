// Drafts in the browser's storage.
import { type DraftStorage, loadDraft, saveDraft } from './draft.js';

class Memory implements DraftStorage {
  readonly items = new Map<string, string>();
  getItem = (key: string): string | null => this.items.get(key) ?? null;
  setItem = (key: string, value: string): void => void this.items.set(key, value);
  removeItem = (key: string): void => void this.items.delete(key);
}

describe('drafts', () => {
  it('WEB-17 are kept per project and field', () => {
    const storage = new Memory();
    expect(saveDraft(storage, 'a', 'prompt', 'one')).toBe(true);
    saveDraft(storage, 'b', 'prompt', 'two');
    saveDraft(storage, 'a', 'command', 'ls');
    expect([
      loadDraft(storage, 'a', 'prompt'),
      loadDraft(storage, 'b', 'prompt'),
      loadDraft(storage, 'a', 'command'),
    ]).toEqual(['one', 'two', 'ls']);
    expect(loadDraft(storage, 'c', 'prompt')).toBe('');
  });

  it('WEB-17 leave nothing behind when they are empty', () => {
    const storage = new Memory();
    saveDraft(storage, 'a', 'prompt', 'one');
    saveDraft(storage, 'a', 'prompt', '');
    expect(storage.items.size).toBe(0);
  });

  it('WEB-17 say when the browser has no room', () => {
    const storage = new Memory();
    storage.setItem = () => {
      throw new DOMException('full', 'QuotaExceededError');
    };
    expect(saveDraft(storage, 'a', 'prompt', 'one')).toBe(false);
  });
});
