// Waits for a condition of something that is looked at, and says what was seen last when it was never met.
import { until } from '#testing';

export async function eventually<T>(look: () => Promise<T>, isMet: (seen: T) => boolean): Promise<T> {
  let last: T | undefined;
  const question = async (): Promise<{ seen: T } | false> => {
    last = await look();
    return isMet(last) ? { seen: last } : false;
  };
  try {
    return (await until('the condition', question, 30_000)).seen;
  } catch (error) {
    throw new Error(`Last seen: ${JSON.stringify(last)}`, { cause: error });
  }
}
