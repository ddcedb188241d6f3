// Calls to an engine that refuses, breaks off or never answers. A real HTTP server on a real socket stands in its place.
import { mkdtempSync, rmSync } from 'node:fs';
import { type RequestListener, type Server, createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDockerSandboxRuntime } from './index.js';
import { EngineClient, EngineRefusal, startFailed, unlessMissing } from './engine-client.js';

let folder: string;
let server: Server | undefined;
const client = (): EngineClient => new EngineClient(join(folder, 'engine.sock'));

async function serve(listener: RequestListener): Promise<void> {
  server = createServer(listener);
  await new Promise<void>((resolve) => server?.listen(join(folder, 'engine.sock'), resolve));
}
const refuse = (status: number): Promise<void> =>
  serve((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end('{"message":"no: /host/path"}');
  });
const inspect = (engine: EngineClient, deadlineMs?: number): Promise<unknown> =>
  engine.call((abortSignal) => engine.docker.getContainer('c').inspect({ abortSignal }), deadlineMs);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gantry-engine-'));
});
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
  rmSync(folder, { recursive: true });
});

describe('a call to the engine', () => {
  it('SBX-29 ends at its deadline, and is taken back', async () => {
    const taken = new Promise<void>((resolve) => {
      void serve((request) => request.socket.once('close', () => resolve()));
    });
    while (!server?.listening) await new Promise((resolve) => setImmediate(resolve));
    // Long enough for the request to arrive on a busy machine.
    await expect(inspect(client(), 500)).rejects.toMatchObject({ code: 'host.engine_unreachable' });
    await taken;
  });

  it('SBX-29 says that the engine is unreachable when nobody is there, or it breaks off', async () => {
    await expect(inspect(client())).rejects.toMatchObject({ code: 'host.engine_unreachable' });
    await serve((request) => request.socket.destroy());
    await expect(inspect(client())).rejects.toMatchObject({ code: 'host.engine_unreachable' });
  });

  it('SBX-29 hands a refusal to its caller, by status', async () => {
    await refuse(404);
    expect(await unlessMissing(inspect(client()))).toBeNull();
    const refusal: unknown = await inspect(client()).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(EngineRefusal);
    expect(refusal).toMatchObject({ status: 404, reason: 'no: /host/path' });
    expect(startFailed(refusal, 'It failed.')).toMatchObject({
      ...{ code: 'sandbox.start_failed', message: 'It failed.', details: { engine_status: 404 } },
    });
  });

  it('SBX-29 lets no foreign error out of the adapter', async () => {
    await refuse(500);
    const socketPath = join(folder, 'engine.sock');
    const runtime = createDockerSandboxRuntime({
      ...{ dockerSocket: socketPath, instanceId: 'i', dataDir: folder, brokerSocketDir: folder },
      toolFiles: { node: '/n', claude: '/c', sandboxd: '/s' },
    });
    for (const call of [runtime.engine(), runtime.list(), runtime.stop('s'), runtime.remove('s', { data: true })]) {
      await expect(call).rejects.toMatchObject({ code: 'host.engine_unreachable', name: 'AppError' });
    }
  });

  it('SBX-29 does not take another refusal for a missing thing', async () => {
    await refuse(500);
    await expect(unlessMissing(inspect(client()))).rejects.toMatchObject({ status: 500 });
  });
});
