// Every check of the sources that is not a compiler's or a linter's. `node tools/checks/main.ts` prints what they refuse.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { checkEnvironmentReads } from './environment-reads.ts';
import { checkFileNames } from './file-names.ts';
import { checkGeneratedPages, GENERATORS } from './generated-pages.ts';
import { checkLockFile, checkMachineTraces, machineTraces } from './machine-traces.ts';
import { checkMarkdownLinks } from './markdown-links.ts';
import { type Problem, projectFiles } from './project-files.ts';
import { checkSpecRules } from './spec-rules.ts';
import { checkTestHygiene } from './test-hygiene.ts';

const checkout = join(import.meta.dirname, '..', '..');
const files = projectFiles(checkout);
const registry = spawnSync('npm', ['config', 'get', 'registry'], { cwd: checkout, encoding: 'utf8' }).stdout.trim();

const checks: Readonly<Record<string, () => Problem[]>> = {
  'spec rules': () => checkSpecRules(files),
  'test hygiene': () => checkTestHygiene(files),
  'environment reads': () => checkEnvironmentReads(files),
  'file names': () => checkFileNames(files),
  'machine traces': () => [...checkMachineTraces(files, machineTraces(checkout, registry)), ...checkLockFile(files)],
  'markdown links': () => checkMarkdownLinks(files, (path) => existsSync(join(checkout, path))),
  'generated pages': () => checkGeneratedPages(checkout, GENERATORS),
};

let count = 0;
for (const [name, run] of Object.entries(checks)) {
  for (const { path, line, message } of run()) {
    count += 1;
    console.error(`${path}${line === undefined ? '' : `:${line}`} (${name}) ${message}`);
  }
}
console.log(`checks: ${Object.keys(checks).length} over ${files.length} files, ${count} problems`);
process.exitCode = count > 0 ? 1 : 0;
