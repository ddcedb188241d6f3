// An answer that is worth nothing when it comes too late.

/** What the work gives. Throws what `late` makes when it has not settled after `ms`; whatever it comes to later is dropped. */
export async function inTime<T>(ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
