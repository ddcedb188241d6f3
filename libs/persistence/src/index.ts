// Postgres adapters of the domain's ports. Nothing else imports the Prisma client.
export { createDatabase, type Database, type DatabaseOptions } from './database.js';
export { migrate, type Migration, pendingMigrations, readMigrations } from './migrate.js';
export { namesOfPendingMigrations } from './pending-migrations.js';
export { instanceId } from './instance.js';
export { PgEventStore } from './events/pg-event-store.adapter.js';
export { PgHostStore } from './hosts/pg-host-store.adapter.js';
export { PgTokenDirectory } from './identity/pg-token-directory.adapter.js';
export { hashToken, PgTokenStore } from './identity/pg-token-store.adapter.js';
export { PgPermissionStore } from './permissions/pg-permission-store.adapter.js';
export { PgProjectStore } from './projects/pg-project-store.adapter.js';
export { PgExecutionStore } from './runs/pg-execution-store.adapter.js';
export { PgOutputStore } from './runs/pg-output-store.adapter.js';
export { purgeKeys } from './runs/idempotency.js';
export { PgRetentionStore } from './retention/pg-retention-store.adapter.js';
export { PgRunControl } from './runs/pg-run-control.adapter.js';
export { PgRunStore } from './runs/pg-run-store.adapter.js';
export { PgSpareStore } from './runs/pg-spare-store.adapter.js';
export { PgSessionStore } from './sessions/pg-session-store.adapter.js';
