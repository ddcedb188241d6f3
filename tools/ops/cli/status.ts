// `status`: what runs, as a table.
import type { DataLayout } from '../data-layout.ts';
import { DockerApi } from '../engine/docker-api.ts';
import { instanceNote, type InstanceNote } from '../instance.ts';
import { SupervisorClient } from '../supervisor/control-client.ts';
import { livingProcesses, readRecords, type ServiceRecords } from '../supervisor/service-records.ts';
import type { ServiceRecord, ServiceStatus } from '../supervisor/service-spec.ts';
import type { Context } from './context.ts';

export type Row = [service: string, state: string, pid: string, since: string, restarts: string, url: string];

const HEAD: Row = ['service', 'state', 'pid', 'since', 'restarts', 'url'];

/** Columns as wide as their widest cell, two spaces apart. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function serviceRow(status: ServiceStatus, urls: Record<string, string>): Row {
  const since = status.sinceMs === null ? '-' : new Date(status.sinceMs).toISOString();
  const state = status.state !== 'running' && status.lastExit ? `${status.state} (${status.lastExit})` : status.state;
  return [status.name, state, String(status.pid ?? '-'), since, String(status.restarts), urls[status.name] ?? '-'];
}

async function engineRow(note: InstanceNote | undefined): Promise<Row[]> {
  if (!note) return [];
  const version = await new DockerApi(note.engineSocket).version();
  const state = version ? `answers (${version})` : 'does not answer';
  return [['docker', state, '-', '-', '-', `unix://${note.engineSocket}`]];
}

/** Services that outlived their supervisor run on, but nobody starts them again (OPS-32). */
async function withoutSupervisor(
  layout: DataLayout,
  note: InstanceNote | undefined,
): Promise<{ text: string; healthy: boolean }> {
  const rows = unsupervisedRows(readRecords(layout.run), note?.urls ?? {});
  if (rows.length === 0) return { text: `Nothing runs from ${layout.root}. Start it: make up`, healthy: false };
  const remedy =
    'No supervisor runs: what dies is not started again. Start one, which takes these services over: make up';
  return { text: `${table([HEAD, ...rows, ...(await engineRow(note))])}\n\n${remedy}`, healthy: false };
}

function unsupervisedRows(records: ServiceRecords, urls: Record<string, string>): Row[] {
  return livingProcesses(records).map(({ name, identity }) => {
    const { sinceMs, restarts, identity: newest } = records[name] as ServiceRecord;
    const since = identity === newest ? new Date(sinceMs).toISOString() : '-';
    return [name, 'running, unsupervised', String(identity.pid), since, String(restarts), urls[name] ?? '-'];
  });
}

/** The table's text, and whether everything that was started runs. */
export async function status({ layout }: Context): Promise<{ text: string; healthy: boolean }> {
  const supervisor = new SupervisorClient(layout.supervisorSocket);
  const note = instanceNote(layout);
  if (!(await supervisor.info())) return withoutSupervisor(layout, note);
  const services = await supervisor.status();
  const rows = services.map((service) => serviceRow(service, note?.urls ?? {}));
  return {
    text: table([HEAD, ...rows, ...(await engineRow(note))]),
    healthy: services.length > 0 && services.every(({ state }) => state === 'running'),
  };
}
