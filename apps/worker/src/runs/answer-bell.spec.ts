import { AnswerBell } from './answer-bell.js';

describe('AnswerBell', () => {
  it('ENG-25 rings everyone who listens, until they leave', () => {
    const bell = new AnswerBell();
    const [first, second] = [jest.fn(), jest.fn()];
    const leave = bell.listen(first);
    bell.listen(second);
    bell.ring();
    leave();
    bell.ring();
    expect(first).toHaveBeenCalledTimes(1);
    expect(second).toHaveBeenCalledTimes(2);
  });

  it('ENG-25 keeps a ring that nobody heard for the next who listens, once', async () => {
    const bell = new AnswerBell();
    bell.ring();
    const [first, second] = [jest.fn(), jest.fn()];
    bell.listen(first);
    expect(first).not.toHaveBeenCalled();
    await Promise.resolve();
    expect(first).toHaveBeenCalledTimes(1);
    bell.listen(second);
    await Promise.resolve();
    expect(second).not.toHaveBeenCalled();
  });
});
