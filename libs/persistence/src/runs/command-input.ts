// Input of commands in Postgres: pieces numbered by their writer, stored before they are acknowledged, forgotten when they are written.
import { type CommandInput, type InputPiece, isFinal } from '#domain';
import { AppError, type RunStatus } from '#kernel';
import type { Tx } from '../database.js';
import type { ProjectUnit } from '../events/project-unit.js';
import { ask } from './intents.js';

/** Most bytes (as base64) that may wait to be written. */
const MOST_WAITING_BYTES = 1024 * 1024;
const RETRY_AFTER_MS = 250;
const PIECES_AT_ONCE = 32;

interface InputRow {
  id: string;
  host_id: string;
  kind: string;
  status: string;
  stdin: string | null;
  input_seq: number;
  input_ended: boolean;
}

export async function storeInput(unit: ProjectUnit, input: CommandInput): Promise<{ duplicate: boolean }> {
  const { runId, userId, inputSeq, data, eof } = input;
  const row = await readRun(unit.tx, runId);
  if (inputSeq <= row.input_seq) return { duplicate: true };
  refuse(row, inputSeq);
  await refuseFull(unit.tx, runId);
  await ask(
    unit,
    { runId, projectId: unit.projectId, hostId: row.host_id },
    { kind: 'stdin', userId, payload: { input_seq: inputSeq, data: Buffer.from(data).toString('base64'), eof } },
  );
  await unit.tx.$executeRaw`UPDATE run SET input_seq = ${inputSeq}, input_ended = ${eof} WHERE id = ${runId}::uuid`;
  return { duplicate: false };
}

async function readRun(tx: Tx, runId: string): Promise<InputRow> {
  const [row] = await tx.$queryRaw<InputRow[]>`SELECT id, host_id, kind, status, options->>'stdin' AS stdin, input_seq,
    input_ended FROM run WHERE id = ${runId}::uuid`;
  if (row === undefined) throw new AppError('run.not_found', 'There is no such run.');
  return row;
}

function refuse({ kind, status, stdin, input_seq, input_ended }: InputRow, inputSeq: number): void {
  if (isFinal(status as RunStatus)) {
    throw new AppError('run.not_active', 'The run is over and reads nothing.', { details: { status } });
  }
  if (kind !== 'command' || stdin !== 'pipe' || input_ended) {
    throw new AppError('sandbox.input_closed', 'The run takes no input.');
  }
  if (inputSeq === input_seq + 1) return;
  throw new AppError('run.input_out_of_order', 'A piece of input is missing before this one.', {
    details: { expected_input_seq: input_seq + 1 },
  });
}

async function refuseFull(tx: Tx, runId: string): Promise<void> {
  const [waiting] = await tx.$queryRaw<{ bytes: bigint | null }[]>`SELECT sum(octet_length(payload->>'data')) AS bytes
    FROM intent WHERE run_id = ${runId}::uuid AND kind = 'stdin' AND applied_at IS NULL`;
  if (Number(waiting?.bytes ?? 0) < MOST_WAITING_BYTES) return;
  throw new AppError('sandbox.input_full', 'The program does not read its input.', { retryAfterMs: RETRY_AFTER_MS });
}

/** The pieces that are to be written next, in order. */
export async function waitingInput(tx: Tx, runId: string): Promise<InputPiece[]> {
  const rows = await tx.$queryRaw<{ id: string; input_seq: number; data: string; eof: boolean }[]>`
    SELECT id, (payload->>'input_seq')::int AS input_seq, COALESCE(payload->>'data', '') AS data,
      COALESCE((payload->>'eof')::boolean, false) AS eof
    FROM intent WHERE run_id = ${runId}::uuid AND kind = 'stdin' AND applied_at IS NULL
    ORDER BY (payload->>'input_seq')::int LIMIT ${PIECES_AT_ONCE}`;
  return rows.map(({ id, input_seq: inputSeq, data, eof }) => ({
    intentId: id,
    inputSeq,
    data: Buffer.from(data, 'base64'),
    eof,
  }));
}

/** Written, or refused for good: then nothing more is taken. */
export async function inputWritten(
  tx: Tx,
  runId: string,
  { intentId, closed }: { intentId: string; closed: boolean },
): Promise<void> {
  await tx.$executeRaw`UPDATE intent SET applied_at = COALESCE(applied_at, now()), payload = payload - 'data'
    WHERE id = ${intentId}::uuid AND run_id = ${runId}::uuid`;
  if (closed) await tx.$executeRaw`UPDATE run SET input_ended = true WHERE id = ${runId}::uuid`;
}
