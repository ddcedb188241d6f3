// The language of the page. One for now; a choice of language changes only this file.
import { en, type Text } from './en.js';

export const t: Text = en;
