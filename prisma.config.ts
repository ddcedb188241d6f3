// Prisma's command line for this project: where schema and migrations lie, and an engine that works offline.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'prisma/config';

// Prisma's CLI wants a native schema engine before every command and would download it. The same engine comes from npm as
// WebAssembly; tools/prisma/schema-engine.mjs speaks for it, so that the CLI works offline. An explicit setting wins.
process.env['PRISMA_SCHEMA_ENGINE_BINARY'] ??= fileURLToPath(
  new URL('./tools/prisma/schema-engine.mjs', import.meta.url),
);
process.env['CHECKPOINT_DISABLE'] ??= '1'; // no update check, no telemetry

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env['DATABASE_URL'] ?? 'postgresql://gantry@127.0.0.1:5432/gantry' },
});
