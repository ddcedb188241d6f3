// What a person sees of the steps.
import { ReportedFailure, StepError, Steps } from './step.ts';

function recorder() {
  let text = '';
  let nowMs = 0;
  const steps = new Steps({ write: (added) => (text += added) }, () => nowMs);
  return { steps, pass: (ms: number) => (nowMs += ms), text: () => text };
}

describe('steps', () => {
  it('OPS-2 says nothing of a step that had nothing to do', async () => {
    const { steps, text } = recorder();
    expect(await steps.run('Redis', () => 7)).toBe(7);
    expect(text()).toBe('');
  });

  it('OPS-2 shows what a step does, and its seconds', async () => {
    const { steps, text, pass } = recorder();
    await steps.run('Redis', (say) => {
      say('starting');
      pass(1_250);
    });
    expect(text()).toBe('  Redis: starting\n✓ Redis (1.3 s)\n');
  });

  it('OPS-2 names the step, the reason and the next thing to do, and is not reported twice', async () => {
    const { steps, text } = recorder();
    const failing = steps.run('Redis', () => {
      throw new StepError('it is not\ninstalled', 'install it');
    });
    await expect(failing).rejects.toBeInstanceOf(ReportedFailure);
    expect(text()).toBe('✗ Redis failed after 0.0 s\n  Reason: it is not\n          installed\n  Next:   install it\n');
  });

  it('OPS-2 has a next thing to do for a failure that nobody foresaw', async () => {
    const { steps, text } = recorder();
    const failing = steps.run('Redis', async () => Promise.reject(new Error('EIO')));
    await expect(failing).rejects.toBeInstanceOf(ReportedFailure);
    expect(text()).toMatch(/Reason: EIO\n {2}Next: {3}\S/);
  });
});
