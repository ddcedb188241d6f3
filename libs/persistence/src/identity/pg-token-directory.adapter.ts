// The broker's callers: which live process a token was made for.
import type { TokenDirectory, TokenOwner } from '#domain';
import type { Database } from '../database.js';
import { hashToken } from './pg-token-store.adapter.js';

export class PgTokenDirectory implements TokenDirectory {
  constructor(private readonly db: Database) {}

  async findOwner(token: string): Promise<TokenOwner | undefined> {
    const [row] = await this.db.run(
      (client) => client.$queryRaw<
        { id: string; project_id: string; session_id: string | null; run_id: string | null }[]
      >`
        SELECT p.id, p.project_id, p.session_id,
          (SELECT r.id FROM run r WHERE r.process_id = p.id AND r.status IN ('dispatched', 'running', 'waiting', 'paused', 'parked')
            LIMIT 1) AS run_id
        FROM process p WHERE p.token_hash = ${hashToken(token)} AND p.state IN ('starting', 'live')`,
    );
    if (row === undefined) return undefined;
    return { processId: row.id, projectId: row.project_id, sessionId: row.session_id, runId: row.run_id };
  }
}
