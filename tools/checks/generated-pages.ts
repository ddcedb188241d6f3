// Pages that tools write from code must be what the tools would write now.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Problem } from './project-files.ts';

export interface Generator {
  /** Run with `--check`; exit code 0 says that the page is current. */
  tool: string;
  page: string;
}

export const GENERATORS: readonly Generator[] = [
  { tool: 'tools/config-docs.ts', page: 'docs/configuration.md' },
  { tool: 'tools/protocol-docs.ts', page: 'docs/protocol.md' },
  { tool: 'tools/openapi.ts', page: 'docs/openapi.json' },
];

export function checkGeneratedPages(checkout: string, generators: readonly Generator[]): Problem[] {
  return generators.flatMap(({ tool, page }) => {
    if (!existsSync(join(checkout, tool))) return [{ path: page, message: `Its generator ${tool} is missing.` }];
    const run = spawnSync(process.execPath, [join(checkout, tool), '--check'], { cwd: checkout, encoding: 'utf8' });
    if (run.status === 0) return [];
    const said = `${run.stderr}${run.stdout}`.trim().split('\n').slice(0, 5).join('\n    ');
    return [{ path: page, message: `Not current: npm run docs writes it anew (${tool}).\n    ${said}` }];
  });
}
