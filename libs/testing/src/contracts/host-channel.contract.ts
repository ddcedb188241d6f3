// What every pair of HostClient and HostServer must do.
import type { HostClient, HostRequestHandlers, HostServer } from '#domain';
import { AppError, newId } from '#kernel';

const refuse = async (): Promise<never> => {
  throw new Error('not asked in this test');
};
export const handlersWith = (some: Partial<HostRequestHandlers>): HostRequestHandlers => ({
  'project.prepare_path': refuse,
  'project.wake': refuse,
  'project.remove': refuse,
  ...some,
});

export function describeHostChannel(name: string, ends: () => { client: HostClient; server: HostServer }): void {
  describe(`${name} as a host channel`, () => {
    it('ENG-5 brings each answer to the one who asked', async () => {
      const { client, server } = ends();
      const other = ends().client;
      const hostId = newId();
      await server.serve(
        hostId,
        handlersWith({ 'project.prepare_path': async ({ path }) => ({ realPath: `/real${path}`, created: true }) }),
      );
      const ask = (from: HostClient, path: string) => from.request(hostId, 'project.prepare_path', { path, roots: [] });
      const answers = await Promise.all([ask(client, '/a'), ask(other, '/b'), ask(client, '/c')]);
      expect(answers.map(({ realPath }) => realPath)).toEqual(['/real/a', '/real/b', '/real/c']);
    });

    it('ENG-5 passes an error by its code, with details, without its cause', async () => {
      const { client, server } = ends();
      const hostId = newId();
      await server.serve(
        hostId,
        handlersWith({
          'project.prepare_path': async () => {
            throw new AppError('project.path_not_writable', 'Owned by root.', {
              details: { remedy: 'chown' },
              cause: new Error('/secret/path'),
            });
          },
          'project.remove': async () => {
            throw new Error('a bug at /secret/path');
          },
        }),
      );
      const refused = client.request(hostId, 'project.prepare_path', { path: '/a', roots: [] });
      await expect(refused).rejects.toMatchObject({
        code: 'project.path_not_writable',
        message: 'Owned by root.',
        details: { remedy: 'chown' },
      });
      const failed = client.request(hostId, 'project.remove', { projectId: newId() });
      await expect(failed).rejects.toMatchObject({ code: 'internal.unexpected' });
      await expect(failed).rejects.not.toThrow('secret');
    });

    it('ENG-5 says host.unavailable when nobody serves the host', async () => {
      const { client } = ends();
      const asked = client.request(newId(), 'project.remove', { projectId: newId() }, { deadlineMs: 60 });
      await expect(asked).rejects.toMatchObject({ code: 'host.unavailable', retryable: true });
    });

    it('ENG-5 says host.unavailable when the answer does not come in time', async () => {
      const { client, server } = ends();
      const hostId = newId();
      let release = (): void => undefined;
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      const served = await server.serve(
        hostId,
        handlersWith({
          'project.remove': async () => {
            await held;
            return { removed: true };
          },
        }),
      );
      const asked = client.request(hostId, 'project.remove', { projectId: newId() }, { deadlineMs: 60 });
      await expect(asked).rejects.toMatchObject({ code: 'host.unavailable' });
      release();
      await served.close();
    });

    it('ENG-5 waits within the deadline for a worker that is just taking over', async () => {
      const { client, server } = ends();
      const hostId = newId();
      const first = await server.serve(hostId, handlersWith({}));
      await first.close();
      const asked = client.request(hostId, 'project.remove', { projectId: newId() });
      await server.serve(hostId, handlersWith({ 'project.remove': async () => ({ removed: true }) }));
      expect(await asked).toEqual({ removed: true });
    });
  });
}
