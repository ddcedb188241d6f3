// Users and tokens. A token is 256 random bits, so its plain SHA-256 is as good as a slow hash and fast to look up.
import { createHash } from 'node:crypto';
import type { TokenStore, UserRecord } from '#domain';
import { newId } from '#kernel';
import type { Database } from '../database.js';

export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');

const ADMIN = 'admin';

export class PgTokenStore implements TokenStore {
  constructor(private readonly db: Database) {}

  async findUser(token: string): Promise<UserRecord | undefined> {
    const [row] = await this.db.run(
      (client) => client.$queryRaw<{ token_id: string; id: string; name: string; is_admin: boolean; stale: boolean }[]>`
        SELECT t.id AS token_id, u.id, u.name, u.is_admin,
          (t.last_used_at IS NULL OR t.last_used_at < now() - interval '1 minute') AS stale
        FROM api_token t JOIN "user" u ON u.id = t.user_id
        WHERE t.hash = ${hashToken(token)} AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())`,
    );
    if (row === undefined) return undefined;
    if (row.stale) {
      await this.db.run((client) =>
        client.apiToken.updateMany({ where: { id: row.token_id }, data: { lastUsedAt: new Date() } }),
      );
    }
    return { userId: row.id, name: row.name, isAdmin: row.is_admin };
  }

  async bootstrapAdmin(token: string): Promise<UserRecord> {
    return this.db.transaction(async (tx) => {
      await tx.$executeRaw`INSERT INTO "user" (id, name, is_admin) VALUES (${newId()}::uuid, ${ADMIN}, true)
        ON CONFLICT (name) DO NOTHING`;
      const user = await tx.user.findUniqueOrThrow({ where: { name: ADMIN } });
      await tx.$executeRaw`INSERT INTO api_token (id, user_id, name, prefix, hash)
        VALUES (${newId()}::uuid, ${user.id}::uuid, 'first sign-in', ${token.slice(0, 8)}, ${hashToken(token)})
        ON CONFLICT (hash) DO NOTHING`;
      return { userId: user.id, name: user.name, isAdmin: user.isAdmin };
    });
  }
}
