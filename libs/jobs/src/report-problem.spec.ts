import { limitReports, type Problem } from './report-problem.port.js';

describe('limitReports', () => {
  it('lets one problem of an operation through per interval and says how many were left out', () => {
    let now = 0;
    const reported: Problem[] = [];
    const report = limitReports(
      (problem) => reported.push(problem),
      1_000,
      () => now,
    );
    const error = new Error('away');
    for (let i = 0; i < 5; i += 1) report({ operation: 'live.publish', error });
    report({ operation: 'queue.dispatch', error });
    now = 1_000;
    report({ operation: 'live.publish', error });
    expect(reported).toEqual([
      { operation: 'live.publish', error },
      { operation: 'queue.dispatch', error },
      { operation: 'live.publish', error, repeated: 4 },
    ]);
  });
});
