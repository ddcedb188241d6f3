// One-shot before the services of docker-compose.yml: migrates the database and makes the first sign-in token if there is none.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { migrate } from '../dist/libs/persistence/src/migrate.js';

const { DATABASE_URL: databaseUrl, GANTRY_BOOTSTRAP_TOKEN_FILE: tokenFile } = process.env;
if (!databaseUrl || !tokenFile) throw new Error('DATABASE_URL and GANTRY_BOOTSTRAP_TOKEN_FILE are required');

const applied = await migrate(databaseUrl, 'prisma/migrations');
console.log(applied.length > 0 ? `applied ${applied.join(', ')}` : 'the database is up to date');

if (!existsSync(tokenFile)) {
  mkdirSync(dirname(tokenFile), { recursive: true });
  writeFileSync(tokenFile, `gnt_${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 });
  console.log(`made the sign-in token in ${tokenFile}`);
}
