// Writes docs/openapi.json, the description of the HTTP routes, from libs/protocol. With --check it only says whether the file is current.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { checkout } from './ops/checkout.ts';
import { importSource } from './ops/import-source.ts';

const { openApiDocument } = await importSource<typeof import('#protocol')>('protocol');
const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as { version: string };

const file = join(checkout, 'docs', 'openapi.json');
const document = await format(JSON.stringify(openApiDocument(version)), {
  ...(await resolveConfig(file)),
  filepath: file,
});

if (!process.argv.includes('--check')) {
  writeFileSync(file, document);
} else if (!existsSync(file) || readFileSync(file, 'utf8') !== document) {
  console.error('docs/openapi.json differs from libs/protocol. Run: node tools/openapi.ts');
  process.exitCode = 1;
}
