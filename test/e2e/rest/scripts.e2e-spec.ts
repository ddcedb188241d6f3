// A script as the README has it, run word by word against the whole product.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { startStack, type Stack } from '#testing';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());

/** The shell example below a heading of the README. */
function example(heading: string): string {
  const readme = readFileSync(join(process.cwd(), 'README.md'), 'utf8');
  const code = new RegExp(`\\n## ${heading}\\n[^]*?\\n\`\`\`sh\\n([^]*?)\\n\`\`\`\\n`).exec(readme)?.[1];
  if (code === undefined) throw new Error(`the README has no example below ${heading}`);
  return code;
}

it('REST-18 runs the README’s script: a command and its output, a prompt once, the whole history', async () => {
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', example('From a script')], {
    env: {
      PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
      GANTRY_URL: stack.url,
      GANTRY_TOKEN: stack.adminToken,
      GANTRY_ROOT: stack.projectRoot,
    },
  });
  const lines = stdout.trimEnd().split('\n');
  expect(lines.slice(0, 3)).toEqual(['Linux', '.', '..']);
  expect(lines.at(-2)).toBe('succeeded');
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ type: 'export.complete', after_seq: 0 });
});
