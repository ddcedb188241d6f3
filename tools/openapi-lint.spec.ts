// The linter of the description refuses what is not right, and takes what is committed.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const checkout = join(import.meta.dirname, '..');
const committed = join(checkout, 'docs', 'openapi.json');

function lint(file: string): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(checkout, 'tools', 'openapi-lint.ts'), file], {
    encoding: 'utf8',
  });
  return { status, said: `${stdout}${stderr}` };
}

it('REST-17 takes the committed description', () => {
  expect(lint(committed)).toEqual({ status: 0, said: 'openapi: 0 problems\n' });
});

it('REST-17 refuses a description with a wrong reference, an unused part or an operation without a name', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-openapi-'));
  const document = JSON.parse(readFileSync(committed, 'utf8')) as {
    paths: Record<string, Record<string, { operationId?: string; responses: Record<string, unknown> }>>;
    components: { schemas: Record<string, unknown> };
  };
  const operation = document.paths['/projects']?.['get'];
  if (operation === undefined) throw new Error('the description lacks an operation');
  delete operation.operationId;
  operation.responses['400'] = { $ref: '#/components/responses/Nothing' };
  document.components.schemas['Unused'] = { type: 'object' };
  const file = join(folder, 'openapi.json');
  writeFileSync(file, JSON.stringify(document));
  const { status, said } = lint(file);
  rmSync(folder, { recursive: true });
  expect(status).toBe(1);
  for (const rule of ['operation-operationId', 'no-unresolved-refs', 'no-unused-components'])
    expect(said).toContain(rule);
});
