// How many requests may be under way, and what becomes of them when the gateway goes.
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { isAppError } from '#kernel';
import { RestTraffic } from './rest-traffic.js';

const response = (): ServerResponse => new ServerResponse(new IncomingMessage(new Socket()));

function refusalOf(attempt: () => void): string | undefined {
  try {
    attempt();
  } catch (error) {
    return isAppError(error) ? error.code : String(error);
  }
  return undefined;
}

it('REST-12 counts what is under way for each user until its connection is done with it', () => {
  const traffic = new RestTraffic(2);
  const [first, second, third] = [response(), response(), response()];
  traffic.count('ann', first);
  traffic.count('ann', second);
  expect(refusalOf(() => traffic.count('ann', third))).toBe('request.rate_limited');
  traffic.count('bob', third);
  first.emit('close');
  traffic.count('ann', response());
  expect(refusalOf(() => traffic.count('ann', response()))).toBe('request.rate_limited');
});

it('REST-13 tells those who wait, refuses who comes, and is done when all are answered', async () => {
  const traffic = new RestTraffic(2);
  const waiting = response();
  traffic.begin(waiting);
  const signal = traffic.signalOf(waiting);
  const drained = traffic.drain(60_000);
  expect(signal.aborted).toBe(true);
  expect(refusalOf(() => traffic.begin(response()))).toBe('service.draining');
  waiting.emit('close');
  await drained;
});

it('REST-13 waits no longer than it may', async () => {
  const traffic = new RestTraffic(2);
  traffic.begin(response());
  await traffic.drain(1);
});

it('REST-10 says that a client is gone', () => {
  const traffic = new RestTraffic(2);
  const [one, other] = [response(), response()];
  const [signal, otherSignal] = [traffic.signalOf(one), traffic.signalOf(other)];
  one.emit('close');
  expect([signal.aborted, otherSignal.aborted]).toEqual([true, false]);
});
