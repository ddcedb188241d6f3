// Rows that make a token known to the directory in Postgres, as a worker would write them.
import pg from 'pg';
import type { TokenOwner } from '#domain';
import { newId } from '#kernel';
import { hashToken } from '#persistence';

export class ProcessRows {
  private constructor(
    readonly client: pg.Client,
    private readonly place: { hostId: string; projectId: string; sandboxId: string },
  ) {}

  /** Connects and makes a project with its sandbox. */
  static async create(databaseUrl: string): Promise<ProcessRows> {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    const [hostId, projectId, sandboxId] = [newId(), newId(), newId()];
    await client.query('INSERT INTO host (id, engine_id) VALUES ($1, $2)', [hostId, newId()]);
    await client.query('INSERT INTO project (id, host_id, name, path, created_by) VALUES ($1, $2, $3, $4, $5)', [
      projectId,
      hostId,
      'p',
      `/${projectId}`,
      newId(),
    ]);
    await client.query('INSERT INTO sandbox (id, project_id, host_id) VALUES ($1, $2, $3)', [
      sandboxId,
      projectId,
      hostId,
    ]);
    return new ProcessRows(client, { hostId, projectId, sandboxId });
  }

  /** A live process with that token. */
  async addProcess(token: string): Promise<TokenOwner> {
    const { projectId, sandboxId } = this.place;
    const processId = newId();
    await this.client.query(
      `INSERT INTO process (id, project_id, sandbox_id, kind, state, fingerprint, token_hash)
       VALUES ($1, $2, $3, 'agent', 'live', 'f', $4)`,
      [processId, projectId, sandboxId, hashToken(token)],
    );
    return { processId, projectId, sessionId: null, runId: null };
  }

  async startRun(processId: string): Promise<string> {
    const { projectId, hostId } = this.place;
    const runId = newId();
    await this.client.query(
      `INSERT INTO run (id, project_id, host_id, kind, status, position, process_id, timeout_ms, correlation_id, created_by)
       VALUES ($1, $2, $3, 'prompt', 'running', 1, $4, 1000, $5, $6)`,
      [runId, projectId, hostId, processId, newId(), newId()],
    );
    return runId;
  }

  async endRun(processId: string): Promise<void> {
    await this.client.query(`UPDATE run SET status = 'succeeded' WHERE process_id = $1`, [processId]);
  }

  async endProcess(processId: string): Promise<void> {
    await this.client.query(`UPDATE process SET state = 'exited' WHERE id = $1`, [processId]);
  }

  /** All process rows, as one text. */
  async dump(): Promise<string> {
    return JSON.stringify((await this.client.query('SELECT row_to_json(p) FROM process p')).rows);
  }

  close(): Promise<void> {
    return this.client.end();
  }
}
