import { AppError, ERROR_CODES, ERROR_POLICY, type ErrorCode } from '#kernel';
import { judgeFailure as judge } from './failure-verdict.js';
import { Patience, type PatienceBounds } from './patience.js';
import { DetachedError } from './run-driver.port.js';

const judgeFailure = (thrown: unknown, started = false) => judge(thrown, { started });

describe('judgeFailure', () => {
  it('ENG-28 lets go of a run that another worker has', () => {
    expect(judgeFailure(new DetachedError())).toEqual({ kind: 'let_go' });
    expect(judgeFailure(new AppError('write.fenced', 'x'))).toEqual({ kind: 'let_go', fencedBy: 'database' });
    expect(judgeFailure(new AppError('sandbox.epoch_stale', 'x'))).toEqual({ kind: 'let_go', fencedBy: 'sandbox' });
    expect(judgeFailure(new AppError('host.lease_lost', 'x'))).toMatchObject({ kind: 'let_go' });
  });

  it('ENG-24 tries again while infrastructure is away, and says what was missing when it gives up', () => {
    const lost = judgeFailure(new AppError('sandbox.connection_lost', 'x'));
    expect(lost).toMatchObject({ kind: 'retry', asFailure: { code: 'sandbox.lost' } });
    const engine = judgeFailure(new AppError('host.engine_unreachable', 'x'));
    expect(engine).toMatchObject({ kind: 'retry', asFailure: { code: 'host.engine_unreachable' } });
  });

  it('ENG-24 tries again to start a sandbox that a run was at work in, and not one that never worked', () => {
    const failed = new AppError('sandbox.start_failed', 'x');
    expect(judgeFailure(failed, true)).toMatchObject({ kind: 'retry', asFailure: { code: 'sandbox.lost' } });
    expect(judgeFailure(failed)).toMatchObject({ kind: 'fail', error: failed });
  });

  it('ENG-24 ends a run over what trying again cannot cure, a bug of ours included', () => {
    expect(judgeFailure(new AppError('sandbox.image_missing', 'x'))).toMatchObject({ kind: 'fail' });
    expect(judgeFailure(new TypeError('a bug'))).toMatchObject({
      kind: 'fail',
      error: { code: 'internal.unexpected' },
    });
  });

  it('ENG-24 has one verdict for each code, and retries all that the error table calls retryable', () => {
    for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
      const { kind } = judgeFailure(new AppError(code, 'x'));
      if (kind === 'fail') expect(ERROR_POLICY[ERROR_CODES[code]].retryable).toBe(false);
    }
  });
});

describe('Patience', () => {
  const bounds: PatienceBounds = { firstMs: 100, mostMs: 1_000, sandboxMs: 5_000, serviceMs: 60_000 };
  const patienceAt = () => {
    let now = 0;
    const clock = { now: () => new Date(now), monotonicMs: () => now };
    return { patience: new Patience(bounds, clock), pass: (ms: number) => (now += ms) };
  };

  it('ENG-24 waits longer each time, up to a limit', () => {
    const { patience } = patienceAt();
    const waits = Array.from({ length: 6 }, () => patience.next('sandbox.connection_lost'));
    expect(waits).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  });

  it('ENG-24 gives up on a sandbox sooner than on Docker or Postgres', () => {
    const { patience, pass } = patienceAt();
    patience.next('sandbox.connection_lost');
    pass(5_000);
    expect(patience.next('host.engine_unreachable')).toBeDefined();
    expect(patience.next('sandbox.connection_lost')).toBeUndefined();
    pass(55_000);
    expect(patience.next('host.engine_unreachable')).toBeUndefined();
  });

  it('ENG-24 begins anew after a long time without a failure', () => {
    const { patience, pass } = patienceAt();
    patience.next('sandbox.connection_lost');
    patience.next('sandbox.connection_lost');
    pass(120_000);
    expect(patience.next('sandbox.connection_lost')).toBe(100);
  });
});
