import type { EngineInfo } from '#domain';
import { AppError } from '#kernel';
import { createLogger } from '#observability';
import { EngineProbe } from './engine-probe.js';

const ENGINE: EngineInfo = { engineId: 'e', version: '20', cpus: 2, memoryBytes: 1, liveRestore: true };
const logger = createLogger({ service: 'test', level: 'silent' });
const never = new AbortController().signal;

function probe() {
  const engine = { reachable: true, pathsShared: true, proofs: 0 };
  const made = new EngineProbe({
    image: 'image',
    logger,
    retryMs: 1,
    runtime: {
      engine: async () => {
        if (engine.reachable) return ENGINE;
        throw new AppError('host.engine_unreachable', 'away');
      },
      provePaths: async () => {
        engine.proofs += 1;
        if (engine.pathsShared) return;
        throw new AppError('host.paths_not_shared', 'not shared', { details: { remedy: 'mount it' } });
      },
    },
  });
  return { made, engine };
}

describe('EngineProbe', () => {
  it('ENG-12 says that Docker is away, and goes on by itself when it is there', async () => {
    const { made, engine } = probe();
    engine.reachable = false;
    const proven = made.proven(never);
    await expect(made.check()).rejects.toMatchObject({ code: 'host.engine_unreachable' });
    engine.reachable = true;
    expect(await proven).toEqual(ENGINE);
    await made.check();
  });

  it('ENG-13 says that paths are not shared, with the remedy, until they are; and proves them once', async () => {
    const { made, engine } = probe();
    engine.pathsShared = false;
    const proven = made.proven(never);
    while (engine.proofs < 3) await new Promise((resolve) => setImmediate(resolve));
    await expect(made.check()).rejects.toMatchObject({
      code: 'host.paths_not_shared',
      details: { remedy: 'mount it' },
    });
    engine.pathsShared = true;
    await proven;
    const { proofs } = engine;
    expect(await made.proven(never)).toEqual(ENGINE);
    expect(engine.proofs).toBe(proofs);
  });

  it('ENG-12 says later too when Docker goes away', async () => {
    const { made, engine } = probe();
    await made.proven(never);
    engine.reachable = false;
    await expect(made.check()).rejects.toMatchObject({ code: 'host.engine_unreachable' });
  });

  it('stops trying when told to', async () => {
    const { made, engine } = probe();
    engine.reachable = false;
    const stopped = new AbortController();
    const proven = made.proven(stopped.signal);
    stopped.abort();
    expect(await proven).toBeUndefined();
  });
});
