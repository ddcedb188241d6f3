// What is asked before the machine is changed.
import { askOnce, describeChanges, type HostChange } from './consent.ts';

const changes: HostChange[] = [
  { package: 'redis-server', what: 'install the package redis-server', why: 'a private Redis' },
  { what: 'start a Docker engine in /var/lib/gantry/engine', why: 'none answers' },
];

const person = (answer: string, assumeYes = false) => {
  const asked: string[] = [];
  const ask = async (question: string): Promise<string> => {
    asked.push(question);
    return answer;
  };
  return { asked, terminal: { assumeYes, ask } };
};

describe('consent', () => {
  it('OPS-3 lists every change and asks once', async () => {
    const { asked, terminal } = person('y');
    await askOnce(changes, terminal);
    expect(asked).toHaveLength(1);
    for (const { what, why } of changes) {
      expect(asked[0]).toContain(what);
      expect(describeChanges(changes)).toContain(why);
    }
  });

  it.each(['', 'n', 'no', 'yet', 'Yes please'])('OPS-3 takes %j for no', async (answer) => {
    await expect(askOnce(changes, person(answer).terminal)).rejects.toHaveProperty(
      'next',
      expect.stringContaining('--yes'),
    );
  });

  it('OPS-3 asks nothing with --yes, and nothing when nothing changes', async () => {
    const yes = person('n', true);
    await askOnce(changes, yes.terminal);
    const nothing = person('n');
    await askOnce([], nothing.terminal);
    expect([...yes.asked, ...nothing.asked]).toEqual([]);
  });
});
