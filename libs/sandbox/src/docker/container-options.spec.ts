// The options of a container, where they depend on what was asked for.
import type { SandboxSpec } from '#domain';
import { type ContainerInputs, containerOptions } from './container-options.js';
import { Identity, LABEL, shortId } from './identity.js';

const MIB = 1024 * 1024;
const spec: SandboxSpec = {
  sandboxId: 'sandbox-1',
  projectId: 'project-1',
  image: 'image:1',
  workspacePath: '/host/work',
  uid: 1000,
  gid: 1001,
  limits: { memoryBytes: 512 * MIB, cpus: 1.5, pids: 100, tmpBytes: 64 * MIB, spoolBytes: 8 * MIB },
};
const inputs = (changes: Partial<SandboxSpec> = {}, more: Partial<ContainerInputs> = {}): ContainerInputs => ({
  identity: new Identity('instance-1'),
  spec: { ...spec, ...changes },
  imageId: 'sha256:1',
  userName: 'agent',
  tools: { node: '/t/node', claude: '/t/claude', sandboxd: '/t/sandboxd.cjs' },
  brokerSocketDir: '/run/broker-dir',
  socketFolder: '/d/run/x/sock',
  passwdFile: '/d/run/x/passwd',
  groupFile: '/d/run/x/group',
  ...more,
});
const specHash = (given: ContainerInputs): unknown => containerOptions(given).Labels?.[LABEL.spec];

describe('the options of a container', () => {
  it('SBX-24 carry the limits, and no swap', () => {
    expect(containerOptions(inputs()).HostConfig).toMatchObject({
      ...{ Memory: 512 * MIB, MemorySwap: 512 * MIB, NanoCpus: 1.5e9, PidsLimit: 100, ShmSize: 64 * MIB },
    });
  });

  it('SBX-24 refuse a /tmp that could fill the memory', () => {
    const limits = { ...spec.limits, tmpBytes: 400 * MIB };
    expect(() => containerOptions(inputs({ limits }))).toThrow(/too near to the memory limit/);
    const small = { ...spec.limits, memoryBytes: 64 * MIB, tmpBytes: 16 * MIB };
    expect(containerOptions(inputs({ limits: small })).HostConfig?.ShmSize).toBe(8 * MIB);
  });

  it('SBX-26 cannot be given the labels of another instance or sandbox', () => {
    const labels = { 'gantry.instance': 'other', 'gantry.sandbox': 'other', 'gantry.correlation': 'c1' };
    expect(containerOptions(inputs({ labels })).Labels).toMatchObject({
      ...{ 'gantry.instance': 'instance-1', 'gantry.sandbox': 'sandbox-1', 'gantry.correlation': 'c1' },
    });
  });

  it('SBX-25 are another specification when anything but the labels changes', () => {
    const same = specHash(inputs());
    expect(specHash(inputs({ labels: { 'gantry.correlation': 'c2' } }))).toBe(same);
    expect(specHash(inputs({}, { imageId: 'sha256:2' }))).not.toBe(same);
    expect(specHash(inputs({ uid: 1002 }))).not.toBe(same);
    expect(specHash(inputs({ limits: { ...spec.limits, pids: 101 } }))).not.toBe(same);
    expect(specHash(inputs({}, { tools: { ...inputs().tools, sandboxd: '/t/2/sandboxd.cjs' } }))).not.toBe(same);
  });
});

describe('names', () => {
  it('SBX-26 of two instances differ although their ids begin alike', () => {
    const ids = ['01a2012d-496d-75e6-a6e0-d11adde8aac2', '01a2012d-496d-75e6-a6e0-d11adde8aac3'];
    expect(new Set(ids.map(shortId)).size).toBe(2);
    expect(new Identity(ids[0] ?? '').containerName('s')).toMatch(/^gantry-[0-9a-f]{10}-s$/);
  });
});
