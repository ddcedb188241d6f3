// Waits for a state that nobody announces.

/** The state is with another connection or process, which tells nobody: it is asked, a round trip each, until it shows. */
export async function eventually<T>(ask: () => Promise<T>, holds: (answer: T) => boolean): Promise<T> {
  const deadline = performance.now() + 15_000;
  for (;;) {
    const answer = await ask();
    if (holds(answer)) return answer;
    if (performance.now() > deadline) throw new Error(`it stayed ${JSON.stringify(answer)}`);
  }
}
