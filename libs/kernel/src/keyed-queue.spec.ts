// Order per key, and nothing waits across keys.
import { KeyedQueue } from './keyed-queue.js';

function gate() {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

it('GW-9 runs tasks of one key one after another, in order', async () => {
  const queue = new KeyedQueue();
  const done: string[] = [];
  const first = gate();
  const tasks = [
    queue.run('a', async () => {
      await first.opened;
      done.push('a1');
    }),
    queue.run('a', async () => {
      done.push('a2');
    }),
    queue.run('b', async () => {
      done.push('b1');
    }),
    queue.run('a', async () => {
      done.push('a3');
    }),
  ];
  await tasks[2];
  expect(done).toEqual(['b1']);
  first.open();
  await Promise.all(tasks);
  expect(done).toEqual(['b1', 'a1', 'a2', 'a3']);
});

it('GW-9 starts the first task of a key at once', () => {
  let started = false;
  void new KeyedQueue().run('a', async () => {
    started = true;
  });
  expect(started).toBe(true);
});

it('GW-9 goes on after a task that failed, and gives each caller its own result', async () => {
  const queue = new KeyedQueue();
  const failed = queue.run('a', async () => {
    throw new Error('this one');
  });
  const next = queue.run('a', async () => 'that one');
  await expect(failed).rejects.toThrow('this one');
  await expect(next).resolves.toBe('that one');
});
