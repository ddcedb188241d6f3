// A long answer and a reader that sets the pace.
import { Writable } from 'node:stream';
import { sendPaced } from './paced-writer.js';

/** A reader that takes a piece each time it is told to. */
function slowReader() {
  const taken: string[] = [];
  let take: (() => void) | undefined;
  const response = new Writable({
    highWaterMark: 4,
    write(chunk: Buffer, _encoding, done) {
      take = () => {
        taken.push(chunk.toString());
        done();
      };
    },
  });
  return { response, taken, take: () => take?.() };
}

function counted(count: number) {
  const made = { count: 0 };
  async function* pieces(): AsyncGenerator<string> {
    for (; made.count < count;) {
      made.count += 1;
      yield `${made.count}---`;
    }
  }
  return { made, pieces: pieces() };
}

const settled = async () => {
  for (let turns = 0; turns < 20; turns += 1) await new Promise((resolve) => setImmediate(resolve));
};

it('REST-10 makes the next piece only when the reader has taken the last', async () => {
  const reader = slowReader();
  const { made, pieces } = counted(4);
  const sending = sendPaced(reader.response, pieces, new AbortController().signal);
  for (let taken = 0; taken < 4; taken += 1) {
    await settled();
    expect([reader.taken.length, made.count]).toEqual([taken, taken + 1]);
    reader.take();
  }
  await sending;
  await settled();
  expect([reader.taken.join(''), reader.response.writableEnded]).toEqual(['1---2---3---4---', true]);
});

it('REST-10 stops, and cuts the answer, when the reader is gone', async () => {
  const reader = slowReader();
  const { made, pieces } = counted(4);
  const gone = new AbortController();
  const sending = sendPaced(reader.response, pieces, gone.signal);
  await settled();
  gone.abort();
  await sending;
  expect([made.count, reader.response.destroyed, reader.response.writableEnded]).toEqual([2, true, false]);
});

it('REST-9 passes on what fails in the middle, and does not end the answer', async () => {
  const { response } = slowReader();
  async function* broken(): AsyncGenerator<string> {
    yield 'a';
    throw new Error('away');
  }
  await expect(sendPaced(response, broken(), new AbortController().signal)).rejects.toThrow('away');
  expect(response.writableEnded).toBe(false);
});
