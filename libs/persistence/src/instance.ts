// Who this installation is: one row, made by whoever asks first (R19).
import { newId } from '#kernel';
import type { Database } from './database.js';

/** The instance id that containers, volumes, networks and Redis keys carry. */
export async function instanceId(db: Database): Promise<string> {
  return db.run(async (client) => {
    await client.$executeRaw`INSERT INTO instance (id, singleton) VALUES (${newId()}::uuid, true) ON CONFLICT (singleton) DO NOTHING`;
    const row = await client.instance.findFirstOrThrow();
    return row.id;
  });
}
