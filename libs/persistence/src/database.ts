// The connection to Postgres: one Prisma client, transactions with a bounded retry, foreign errors translated once.
import { PrismaPg } from '@prisma/adapter-pg';
import { KeyedQueue } from '#kernel';
import { translateDatabaseError, isSerializationConflict } from './database-errors.js';
import type { Prisma } from './generated/client.js';
import { PrismaClient } from './generated/client.js';

/** A transaction's client: every query of a unit of work goes through it. */
export type Tx = Prisma.TransactionClient;

const TRANSACTION = { maxWait: 10_000, timeout: 20_000 } as const;
const ATTEMPTS = 4;

export class Database {
  /** Units of work on one project wait for each other here, before they take a connection: one project's rush must not hold them all. */
  readonly projects = new KeyedQueue();

  constructor(readonly client: PrismaClient) {}

  /** Runs `work` in one transaction; a deadlock or serialization conflict is tried again. Errors are AppErrors. */
  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.client.$transaction(work, TRANSACTION);
      } catch (error) {
        if (attempt < ATTEMPTS && isSerializationConflict(error)) continue;
        throw translateDatabaseError(error);
      }
    }
  }

  /** One statement or read outside a transaction, with its errors translated. */
  async run<T>(work: (client: PrismaClient) => Promise<T>): Promise<T> {
    try {
      return await work(this.client);
    } catch (error) {
      throw translateDatabaseError(error);
    }
  }

  /** Throws `service.unavailable` when Postgres does not answer. */
  async ping(): Promise<void> {
    await this.run((client) => client.$queryRaw`SELECT 1`);
  }

  async close(): Promise<void> {
    await this.client.$disconnect();
  }
}

export interface DatabaseOptions {
  /** Most connections of this process. */
  poolSize?: number;
  /**
   * How long a transaction may wait for its next statement before Postgres ends it, ms. A process that was frozen in the middle of one
   * must not hold its locks for longer than it takes another worker to have the lease.
   */
  idleInTransactionMs?: number;
}

/** Connects lazily: nothing is sent before the first query, so Postgres may come later than this process. */
export function createDatabase(url: string, options: DatabaseOptions = {}): Database {
  const adapter = new PrismaPg({
    connectionString: url,
    max: options.poolSize ?? 12,
    connectionTimeoutMillis: 5000,
    idleTimeoutMillis: 30_000,
    idle_in_transaction_session_timeout: options.idleInTransactionMs ?? 3_000,
  });
  return new Database(new PrismaClient({ adapter }));
}
