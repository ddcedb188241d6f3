// Turning away from work that cannot be cut short itself.

/** What the work gives; undefined as soon as the signal is aborted. Work that was turned away from ends unheard. */
export async function unlessAborted<T extends object>(signal: AbortSignal, work: Promise<T>): Promise<T | undefined> {
  if (signal.aborted) {
    work.catch(() => undefined);
    return undefined;
  }
  let leave = (): void => undefined;
  const aborted = new Promise<undefined>((resolve) => {
    leave = () => resolve(undefined);
    signal.addEventListener('abort', leave, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
