// Writes docs/configuration.md from the option catalogue; with --check only says whether it is up to date.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkout } from './ops/checkout.ts';
import { importSource } from './ops/import-source.ts';

const file = join(checkout, 'docs', 'configuration.md');
const { renderConfigurationPage } = await importSource<typeof import('#config')>('config');
const page = renderConfigurationPage();

if (!process.argv.includes('--check')) {
  writeFileSync(file, page);
} else if (readFileSync(file, 'utf8') !== page) {
  console.error('docs/configuration.md differs from the option catalogue. Run: npm run docs');
  process.exitCode = 1;
}
