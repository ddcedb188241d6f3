// What a job is, sees and can reach inside a sandbox, and how its container was made.
import type { SandboxConnection, SandboxSpec } from '#domain';
import { DockerEngineProbe } from './docker-engine.probe.js';
import { DockerSandboxFixture, TEST_LIMITS } from './docker-sandbox.fixture.js';
import { runCommand, runShell } from './run-command.js';

jest.setTimeout(60_000);

const fixture = new DockerSandboxFixture();
const engine = new DockerEngineProbe(fixture.instanceId);
let spec: SandboxSpec;
let connection: SandboxConnection;
const shell = async (script: string): Promise<string> => (await runShell(connection, script)).stdout.trim();

beforeAll(async () => {
  await fixture.start();
  spec = fixture.spec();
  await fixture.runtime.ensure(spec);
  connection = await fixture.runtime.connect(spec.sandboxId, { hostEpoch: 1 });
});
afterAll(async () => {
  connection.close();
  await fixture.stop();
});

describe('the container', () => {
  it('SBX-24 is made with every line of the hardening', async () => {
    const { HostConfig: host, Config: config, Mounts } = await engine.inspect(spec.sandboxId);
    expect(host).toMatchObject({
      NetworkMode: 'none',
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      Privileged: false,
      ReadonlyRootfs: true,
      Init: true,
      IpcMode: 'private',
      PidMode: '',
      UTSMode: '',
      UsernsMode: '',
      PidsLimit: TEST_LIMITS.pids,
      Memory: TEST_LIMITS.memoryBytes,
      MemorySwap: TEST_LIMITS.memoryBytes,
      NanoCpus: TEST_LIMITS.cpus * 1e9,
      OomKillDisable: false,
      RestartPolicy: { Name: 'no', MaximumRetryCount: 0 },
      LogConfig: { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '1' } },
      Binds: null,
      PortBindings: null,
      Devices: null,
      VolumesFrom: null,
    });
    expect((host.CapAdd as string[]).map((name) => name.replace('CAP_', '')).sort()).toEqual([
      'CHOWN',
      'KILL',
      'SETGID',
      'SETUID',
    ]);
    expect(host.Ulimits).toEqual(
      expect.arrayContaining([
        { Name: 'core', Soft: 0, Hard: 0 },
        { Name: 'nofile', Soft: 4096, Hard: 8192 },
      ]),
    );
    expect(Object.keys(host.Tmpfs ?? {}).sort()).toEqual(['/run/gantry', '/tmp']);
    expect(host.Tmpfs?.['/tmp']).toBe(`rw,exec,nosuid,nodev,size=${TEST_LIMITS.tmpBytes},mode=1777`);
    expect(config).toMatchObject({
      User: '0:0',
      Entrypoint: ['/opt/gantry/bin/node'],
      Healthcheck: { Test: ['NONE'] },
    });
    const mounts = Mounts.map(({ Type, Destination, RW }) => `${Type} ${Destination} ${RW ? 'rw' : 'ro'}`).sort();
    expect(mounts).toEqual([
      'bind /etc/group ro',
      'bind /etc/passwd ro',
      'bind /opt/gantry/bin/claude ro',
      'bind /opt/gantry/bin/node ro',
      'bind /opt/gantry/sandboxd.cjs ro',
      'bind /run/broker ro',
      'bind /run/gantry/sock rw',
      'bind /workspace rw',
      'volume /home/agent rw',
      'volume /run/gantry/spool rw',
    ]);
  });

  it('SBX-24 has no secret and no name of the host in its environment', async () => {
    const { Config } = await engine.inspect(spec.sandboxId);
    const names = Config.Env.map((line) => line.split('=')[0] ?? '').filter((name) => !name.startsWith('SANDBOXD_'));
    expect(names).not.toEqual(expect.arrayContaining([expect.stringMatching(/TOKEN|KEY$|SECRET|PASSWORD/)]));
  });

  it('SBX-26 carries the labels and the name of its instance', async () => {
    const { Config, Name } = await engine.inspect(spec.sandboxId);
    expect(Config.Labels).toMatchObject({
      'gantry.instance': fixture.instanceId,
      'gantry.project': spec.projectId,
      'gantry.sandbox': spec.sandboxId,
    });
    expect(Name).toMatch(new RegExp(`^/gantry-[0-9a-f]{10}-${spec.sandboxId}$`));
  });
});

describe('a job', () => {
  it('SBX-18 is the sandbox user and nobody else, without a capability or a way to one', async () => {
    const status = await shell('cat /proc/self/status');
    const line = (name: string): string => new RegExp(`^${name}:[ \\t]*(.*)$`, 'm').exec(status)?.[1]?.trim() ?? '';
    expect(line('Uid').split(/\s+/)).toEqual(['1000', '1000', '1000', '1000']);
    expect(line('Gid').split(/\s+/)).toEqual(['1000', '1000', '1000', '1000']);
    expect(line('Groups')).toBe('');
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapAmb']) expect(line(set)).toBe('0000000000000000');
    expect([line('NoNewPrivs'), line('Seccomp')]).toEqual(['1', '2']);
  });

  it('SBX-18 has a name, a home and the PATH of the tools', async () => {
    expect(
      await shell('id -un; echo "$HOME $USER"; stat -c %u "$HOME"; echo "$PATH"; command -v node; command -v claude'),
    ).toBe(
      [
        'agent',
        '/home/agent agent',
        '1000',
        '/opt/gantry/bin:/usr/local/bin:/usr/bin:/bin',
        '/opt/gantry/bin/node',
        '/opt/gantry/bin/claude',
      ].join('\n'),
    );
  });

  it('SBX-18 sees nothing of the supervisor in its environment', async () => {
    const names = (await shell('env')).split('\n').map((line) => line.split('=')[0] ?? '');
    expect(names.filter((name) => /SANDBOXD|NODE_OPTIONS|LD_PRELOAD/.test(name))).toEqual([]);
    const { stdout } = await runCommand(connection, ['env'], { env: { FOO: 'a b', PATH: '/usr/bin' } });
    expect(stdout).toContain('FOO=a b\n');
    expect(stdout).toContain('PATH=/usr/bin\n');
  });

  it('SBX-18 works in its workspace, which root inside could not even enter', async () => {
    expect(await shell('pwd; touch made; stat -c "%u:%g" made')).toBe('/workspace\n1000:1000');
    expect((await runCommand(connection, ['pwd'], { cwd: '/home/agent' })).stdout).toBe('/home/agent\n');
    expect(await shell('git config --get safe.directory')).toBe('*');
    expect(await shell('mkdir -m 700 deep; git init -q deep && git -C deep status --short && echo fine')).toBe('fine');
  });

  it.each([
    ['change the root file system', 'touch /etc/x'],
    ['see the private folder of the supervisor', 'ls /run/gantry'],
    ['reach the socket of the supervisor', 'ls /run/gantry/sock'],
    ['take the socket away', 'rm -rf /run/gantry /run/gantry/sock/sandboxd.sock'],
    ['read the spools', 'ls /run/gantry/spool'],
    ['read the pipes', 'ls /run/gantry/pipes'],
    ['write into the folder of the broker', 'touch /run/broker/x'],
    ['replace a tool', 'echo x > /opt/gantry/sandboxd.cjs'],
    ['become root', 'setpriv --reuid=0 true'],
    ['make a user namespace', 'unshare -U true'],
    ['mount', 'mount -t tmpfs none /tmp'],
    ['change an owner', 'touch /tmp/o && chown 0 /tmp/o'],
    ['lower its memory score below that of the supervisor', 'echo -1 > /proc/self/oom_score_adj'],
    ['raise one half of its mark again', 'ulimit -m unlimited'],
    ['raise the other half', 'ulimit -w unlimited'],
    ['reach a network', 'test "$(ls /sys/class/net)" != lo'],
  ])('SBX-19 cannot %s', async (_what, script) => {
    const { exit } = await runShell(connection, script);
    expect(exit.code).not.toBe(0);
  });

  it('SBX-19 cannot signal the supervisor or look into it', async () => {
    const pid = await shell('grep -l sandboxd.cjs /proc/[0-9]*/cmdline 2>/dev/null | cut -d/ -f3 | head -n1');
    expect(Number(pid)).toBeGreaterThan(0);
    for (const attempt of [`kill -9 ${pid}`, 'kill -9 1', `cat /proc/${pid}/environ`, `ls /proc/${pid}/fd`]) {
      expect((await runShell(connection, attempt)).exit.code).not.toBe(0);
    }
    await runShell(connection, 'kill -9 -1');
    expect(await shell('echo still here')).toBe('still here');
  });

  it('SBX-20 is the first to go when memory ends', async () => {
    expect(await shell('cat /proc/self/oom_score_adj')).toBe('500');
    expect(await shell('cat /proc/1/oom_score_adj')).toBe('0');
  });

  it('SBX-32 has real pipes: it may open them again, and is told when nobody reads', async () => {
    const { stdout, stderr } = await runShell(
      connection,
      'echo out >/dev/stdout; echo err >/dev/stderr; ls -l /proc/self/fd',
    );
    expect(stdout).toMatch(/^out\n/);
    expect(stderr).toBe('err\n');
    expect(stdout).toMatch(/1 -> pipe|1 -> .*\(deleted\)/);
    expect(await shell('yes | head -n 1')).toBe('y');
    // Signals 32 and above are the C library's own: an engine's starter may ignore them, and nothing below it can undo that.
    const ignored = /SigIgn:\s*([0-9a-f]+)/.exec(await shell('cat /proc/self/status'))?.[1] ?? 'f';
    expect(BigInt(`0x${ignored}`) & 0x7fff_ffffn).toBe(0n);
    const { stdout: read } = await runShell(connection, 'cat </dev/stdin; echo end');
    expect(read).toBe('end\n');
  });

  it('SBX-32 holds no file but its three', async () => {
    expect(await shell('ls /proc/$$/fd; true')).toBe('0\n1\n2');
  });
});

describe('a sandbox whose user the image does not know', () => {
  it('SBX-18 gives that user a name, its ids and a home of its own', async () => {
    const other = fixture.spec({ uid: 4242, gid: 4343 });
    await fixture.runtime.ensure(other);
    const inside = await fixture.runtime.connect(other.sandboxId, { hostEpoch: 1 });
    const { stdout } = await runShell(
      inside,
      'id; stat -c "%u:%g" ~; touch ~/x /workspace/y && stat -c "%u:%g" /workspace/y; getent passwd root',
    );
    inside.close();
    const [ids, home, made, root] = stdout.trim().split('\n');
    expect(ids).toMatch(/^uid=4242\(agent2?\) gid=4343\(agent2?\) groups=4343\(agent2?\)$/);
    expect([home, made]).toEqual(['4242:4343', '4242:4343']);
    expect(root).toMatch(/^root:x:0:0:/);
  });

  it('SBX-18 is refused when that user is root', async () => {
    await expect(fixture.runtime.ensure({ ...fixture.spec(), uid: 0 })).rejects.toMatchObject({
      code: 'project.path_not_writable',
    });
  });
});
