// The table of `make status`.
import type { ServiceStatus } from '../supervisor/service-spec.ts';
import { serviceRow, table } from './status.ts';

const running: ServiceStatus = {
  name: 'gateway',
  state: 'running',
  pid: 12,
  sinceMs: Date.UTC(2026, 0, 2),
  restarts: 3,
  lastExit: 'code 1',
};

describe('the status table', () => {
  it('OPS-20 shows service, state, pid, since, restarts and URL', () => {
    expect(serviceRow(running, { gateway: 'http://x' })).toEqual([
      'gateway',
      'running',
      '12',
      '2026-01-02T00:00:00.000Z',
      '3',
      'http://x',
    ]);
  });

  it('OPS-20 shows how a service that does not run ended', () => {
    const failed = serviceRow({ ...running, state: 'failed', pid: null, sinceMs: null }, {});
    expect(failed).toEqual(['gateway', 'failed (code 1)', '-', '-', '3', '-']);
  });

  it('OPS-20 lines up', () => {
    expect(
      table([
        ['a', 'bb'],
        ['ccc', 'd'],
      ]),
    ).toBe('a    bb\nccc  d');
  });
});
