// What is remembered about a running instance for the commands that come later: its id, its engine, its URLs.
import { join } from 'node:path';
import pg from 'pg';
import type { DataLayout } from './data-layout.ts';
import { readIfPresent, writePrivate } from './host/private-file.ts';

export interface InstanceNote {
  /** The id in Postgres that marks containers, volumes and networks (R19). */
  instanceId: string;
  engineSocket: string;
  urls: { gateway: string; worker: string };
  /** Where projects may lie. Absent in notes of an earlier version. */
  projectRoots?: readonly string[];
}

/** The label that every container, volume and network of an instance carries. */
export const instanceLabel = (instanceId: string): string => `gantry.instance=${instanceId}`;

const noteFile = (layout: DataLayout): string => join(layout.run, 'instance.json');

export function noteInstance(layout: DataLayout, note: InstanceNote): void {
  writePrivate(noteFile(layout), `${JSON.stringify(note, null, 2)}\n`);
}

/** Undefined when `up` never came to its end here. */
export function instanceNote(layout: DataLayout): InstanceNote | undefined {
  const text = readIfPresent(noteFile(layout));
  return text === undefined ? undefined : (JSON.parse(text) as InstanceNote);
}

/** The id that the first process to need it stored in Postgres. */
export async function readInstanceId(databaseUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ id: string }>('SELECT id FROM instance');
    if (!rows[0]) throw new Error('The database holds no instance id.');
    return rows[0].id;
  } finally {
    await client.end();
  }
}
