// Which images can be a sandbox, and what is said of the others (R22).
import type { SandboxRuntime } from '#domain';
import { DockerEngineProbe } from './docker-engine.probe.js';
import { DockerSandboxFixture } from './docker-sandbox.fixture.js';
import { runShell } from './run-command.js';
import { SmallImages } from './small-image.js';

jest.setTimeout(60_000);

const fixture = new DockerSandboxFixture();
const images = new SmallImages();
let runtime: SandboxRuntime;
beforeAll(async () => {
  runtime = (await fixture.start()).runtime;
});
afterAll(async () => {
  await fixture.stop();
  await images.remove();
});

describe('an image', () => {
  it('SBX-23 with a C library, a shell and mkfifo is enough', async () => {
    const spec = fixture.spec({ image: await images.without() });
    await runtime.ensure(spec);
    const connection = await runtime.connect(spec.sandboxId, { hostEpoch: 1 });
    const { stdout } = await runShell(
      connection,
      'echo "$USER $HOME"; while read -r line; do echo "$line"; done < /etc/passwd',
    );
    connection.close();
    expect(stdout.split('\n').slice(0, 3)).toEqual([
      'agent /home/agent',
      'root:x:0:0:root:/root:/bin/sh',
      'agent:x:1000:1000:Gantry sandbox:/home/agent:/bin/sh',
    ]);
  });

  it.each([
    ['a C library', [/ld-linux/, /libc\.so/], 'glibc'],
    ['the C++ library that node needs', [/libstdc/], 'libstdc++.so.6'],
    ['a shell', [/\/sh$/], 'a shell at /bin/sh'],
    ['mkfifo', [/mkfifo/], 'mkfifo (coreutils)'],
  ])('SBX-23 that lacks %s is refused by that name', async (_what, lacking, missing) => {
    const spec = fixture.spec({ image: await images.without(...lacking) });
    await expect(runtime.ensure(spec)).rejects.toMatchObject({
      code: 'sandbox.image_unsupported',
      details: { missing: [missing] },
    });
  });

  it('SBX-23 that is not there is said to be missing', async () => {
    const spec = fixture.spec({ image: 'gantry-no-such-image:1' });
    await expect(runtime.ensure(spec)).rejects.toMatchObject({
      code: 'sandbox.image_missing',
      details: { image: 'gantry-no-such-image:1' },
    });
    await expect(runtime.provePaths('gantry-no-such-image:1')).rejects.toMatchObject({ code: 'sandbox.image_missing' });
  });

  it('SBX-23 is looked at without leaving anything behind', async () => {
    const engine = new DockerEngineProbe(fixture.instanceId);
    expect(await engine.probes()).toEqual([]);
  });
});
