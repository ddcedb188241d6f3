// Fetches the pinned claude program for the service image: `node tools/fetch-claude.ts <target file>`.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cachedClaude } from './ops/engine/tool-cache.ts';

const [target] = process.argv.slice(2);
if (!target) throw new Error('usage: node tools/fetch-claude.ts <target file>');
const cache = mkdtempSync(join(tmpdir(), 'gantry-claude-'));
try {
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(await cachedClaude(cache, (what) => console.error(what)), target);
} finally {
  rmSync(cache, { recursive: true });
}
