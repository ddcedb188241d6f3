// Live text: at once, then at most every 40 ms, whole for those who join, gone when the event is there.
import type { DeltaFrame, LiveFrame } from '#domain';
import { createLogger } from '#observability';
import { COALESCE_MS, DeltaStream } from './delta-stream.js';

class RecordingBus {
  readonly log: (['save', DeltaFrame[]] | ['clear'] | ['delta', DeltaFrame])[] = [];
  publish(_projectId: string, frame: LiveFrame): void {
    if (frame.kind === 'delta') this.log.push(['delta', frame.delta]);
  }
  async savePartial(_projectId: string, _runId: string, blocks: DeltaFrame[]): Promise<void> {
    this.log.push(['save', structuredClone(blocks)]);
  }
  async clearPartial(): Promise<void> {
    this.log.push(['clear']);
  }
  get texts(): [number, string][] {
    return this.log.flatMap((entry) => (entry[0] === 'delta' ? [[entry[1].offset, entry[1].text]] : []));
  }
}

const text = (piece: string, blockIndex = 0) => ({
  messageId: 'm',
  blockIndex,
  blockType: 'text' as const,
  text: piece,
});

describe('DeltaStream', () => {
  let bus: RecordingBus;
  let deltas: DeltaStream;

  beforeEach(() => {
    jest.useFakeTimers();
    bus = new RecordingBus();
    const logger = createLogger({ service: 'test', level: 'fatal' });
    deltas = new DeltaStream(bus, { projectId: 'p', runId: 'r', epoch: 3 }, logger);
  });
  afterEach(() => jest.useRealTimers());

  const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

  it('AGT-21 sends the first text at once and what follows together after 40 ms, by offset', async () => {
    deltas.push(text('Hé'));
    await pass(0);
    deltas.push(text('llo'));
    deltas.push(text(' 😀'));
    await pass(COALESCE_MS - 1);
    expect(bus.texts).toEqual([[0, 'Hé']]);
    await pass(1);
    expect(bus.texts).toEqual([
      [0, 'Hé'],
      [2, 'llo 😀'],
    ]);
    deltas.push(text('!'));
    await pass(COALESCE_MS);
    expect(bus.texts.at(-1)).toEqual([8, '!']);
  });

  it('AGT-21 carries epoch, message and block', async () => {
    deltas.push(text('a', 2));
    await pass(0);
    expect(bus.log.at(-1)).toEqual([
      'delta',
      {
        projectId: 'p',
        runId: 'r',
        epoch: 3,
        messageId: 'm',
        blockIndex: 2,
        blockType: 'text',
        offset: 0,
        text: 'a',
      },
    ]);
  });

  it('AGT-21 saves the whole block before it sends a piece of it', async () => {
    deltas.push(text('a'));
    await pass(0);
    deltas.push(text('b'));
    await pass(COALESCE_MS);
    const kinds = bus.log.map(([kind]) => kind);
    expect(kinds).toEqual(['save', 'delta', 'save', 'delta']);
    expect(bus.log[2]).toEqual(['save', [expect.objectContaining({ offset: 0, text: 'ab' })]]);
  });

  it('AGT-21 sends what is left of a block when it is complete, also when its event is committed at once', async () => {
    deltas.push(text('a'));
    deltas.push(text('b'));
    deltas.close({ messageId: 'm', blockIndex: 0 }, 100);
    deltas.committed(100);
    await pass(0);
    deltas.push(text('c', 1));
    await pass(COALESCE_MS);
    deltas.push(text('d', 1));
    deltas.close({ messageId: 'm', blockIndex: 1 }, 200);
    deltas.committed(200);
    await pass(COALESCE_MS);
    expect(bus.texts).toEqual([
      [0, 'a'],
      [1, 'b'],
      [0, 'c'],
      [1, 'd'],
    ]);
    expect(bus.log.at(-1)).toEqual(['clear']);
  });

  it('AGT-21 forgets a block when its event is committed, not before', async () => {
    deltas.push(text('a'));
    await pass(0);
    deltas.close({ messageId: 'm', blockIndex: 0 }, 100);
    deltas.committed(99);
    await pass(COALESCE_MS);
    expect(bus.log.map(([kind]) => kind)).not.toContain('clear');
    deltas.committed(100);
    await pass(COALESCE_MS);
    expect(bus.log.at(-1)).toEqual(['clear']);
  });

  it('AGT-21 leaves the saved text to the worker that takes over, and takes it away at the end', async () => {
    deltas.push(text('a'));
    await pass(0);
    await deltas.end({ keepPartial: true });
    expect(bus.log.map(([kind]) => kind)).not.toContain('clear');
    await deltas.end({ keepPartial: false });
    expect(bus.log.at(-1)).toEqual(['clear']);
  });
});
