// Keeps zod from compiling its parsers with `new Function`, which the page's content security policy forbids.
// A module of its own, imported first: schemas look at this as they are made.
import { z } from 'zod';

z.config({ jitless: true });
