// Where this copy of the project lies.
import { join } from 'node:path';

/** Absolute path of the checkout. */
export const checkout = join(import.meta.dirname, '..', '..');
