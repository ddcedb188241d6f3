// Options, timeouts and working directories, before anything is stored.
import { mergeOptions, checkTimeout } from './run-options.js';
import { workingDirectoryOf } from './working-directory.js';

const limits = { runTimeoutMs: 300_000, runTimeoutMaxMs: 600_000 };

it('GW-19 lets a prompt override the defaults one by one', () => {
  const defaults = { model: 'sonnet', max_turns: 5, timeout_ms: 1000 };
  expect(mergeOptions(defaults, { model: 'opus', allowed_tools: ['Bash'] }, limits)).toEqual({
    options: { model: 'opus', max_turns: 5, allowed_tools: ['Bash'] },
    timeoutMs: 1000,
  });
});

it('GW-19 takes the usual time when nobody asks for another', () => {
  expect(mergeOptions({}, undefined, limits)).toEqual({ options: {}, timeoutMs: 300_000 });
});

it('GW-19 refuses a time above the limit, and cuts a default to it', () => {
  expect(() => mergeOptions({}, { timeout_ms: 600_001 }, limits)).toThrow(/options.timeout_ms: must not exceed 600000/);
  expect(mergeOptions({ timeout_ms: 900_000 }, undefined, limits).timeoutMs).toBe(600_000);
  expect(checkTimeout(600_000, 'timeout_ms', limits)).toBe(600_000);
  expect(() => checkTimeout(600_001, 'timeout_ms', limits)).toThrow(/timeout_ms/);
});

it.each([
  [undefined, null],
  ['', null],
  ['.', null],
  ['/workspace', null],
  ['/workspace/', null],
  ['src', '/workspace/src'],
  ['src/../lib/', '/workspace/lib'],
  ['/workspace/a b', '/workspace/a b'],
])('GW-20 takes %p as %p', (asked, path) => {
  expect(workingDirectoryOf(asked)).toBe(path);
});

it.each(['..', '../x', '/', '/etc', '/workspace2', 'a/../../b', '/workspace/../etc'])('GW-20 refuses %p', (asked) => {
  expect(() => workingDirectoryOf(asked)).toThrow(
    expect.objectContaining({ code: 'command.working_directory' }) as Error,
  );
});
