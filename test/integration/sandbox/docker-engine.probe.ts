// Looks at the containers of a test's instance past the adapter, through the engine's own API, and does to them what the world may.
import Docker from 'dockerode';
import { testEnv } from '#testing';

export class DockerEngineProbe {
  private readonly docker = new Docker({ socketPath: testEnv().dockerSocket });

  constructor(private readonly instanceId: string) {}

  async container(sandboxId: string): Promise<Docker.Container> {
    const label = [`gantry.instance=${this.instanceId}`, `gantry.sandbox=${sandboxId}`];
    const [found] = await this.docker.listContainers({ all: true, filters: { label } });
    if (!found) throw new Error('There is no such container.');
    return this.docker.getContainer(found.Id);
  }

  async inspect(sandboxId: string): Promise<Docker.ContainerInspectInfo> {
    return (await this.container(sandboxId)).inspect();
  }

  async kill(sandboxId: string): Promise<void> {
    const container = await this.container(sandboxId);
    const ended = container.wait();
    await container.kill();
    await ended;
  }

  /** Command lines of all processes of the container, read by the engine from outside. */
  async commandLines(sandboxId: string): Promise<string[]> {
    const container = await this.container(sandboxId);
    const { Processes, Titles } = (await container.top({ ps_args: '-eo pid,stat,args' })) as {
      Processes: string[][];
      Titles: string[];
    };
    const [state, command] = [Titles.indexOf('STAT'), Titles.indexOf('COMMAND')];
    return Processes.filter((row) => !row[state]?.startsWith('Z')).map((row) => row[command] ?? '');
  }

  /** Live shells whose last argument is `name-WORD`: the WORDs, sorted. */
  async family(sandboxId: string, name: string): Promise<string[]> {
    // On its way a process is `env` and `setsid` first: it is there when it has become the shell.
    const shells = (await this.commandLines(sandboxId)).filter((line) => /^(\/bin\/)?sh /.test(line));
    return shells
      .map((line) => line.split(' ').at(-1) ?? '')
      .filter((word) => word.startsWith(`${name}-`))
      .map((word) => word.slice(name.length + 1))
      .sort();
  }

  /** Ids of containers that looked at an image or at the host. */
  async probes(): Promise<string[]> {
    const label = [`gantry.instance=${this.instanceId}`, 'gantry.role=probe'];
    return (await this.docker.listContainers({ all: true, filters: { label } })).map(({ Id }) => Id);
  }

  /** A container as one that was killed in the middle of a proof leaves it: its id. */
  async leaveProbe(image: string): Promise<string> {
    const Labels = { 'gantry.instance': this.instanceId, 'gantry.role': 'probe' };
    return (await this.docker.createContainer({ Image: image, Entrypoint: ['/nothing'], Labels })).id;
  }

  /** Puts a small file system in memory in the place of a volume whose name ends so. Nobody may be using it. */
  async replaceVolume(nameEnd: string, bytes: number): Promise<void> {
    const name = (await this.volumes()).find((candidate) => candidate.endsWith(nameEnd));
    if (name === undefined) throw new Error('There is no such volume.');
    const { Labels } = await this.docker.getVolume(name).inspect();
    await this.docker.getVolume(name).remove();
    const DriverOpts = { type: 'tmpfs', device: 'tmpfs', o: `size=${bytes}` };
    await this.docker.createVolume({ Name: name, Driver: 'local', DriverOpts, Labels });
  }

  async volumes(): Promise<string[]> {
    const { Volumes } = await this.docker.listVolumes({
      filters: JSON.stringify({ label: [`gantry.instance=${this.instanceId}`] }),
    });
    return Volumes.map(({ Name }) => Name).sort();
  }
}
