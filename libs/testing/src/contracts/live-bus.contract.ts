// What every LiveBus must do; a bus is made over a transport that the suite never sees.
import type { DeltaFrame, LiveBus, LiveFrame } from '#domain';
import { newId } from '#kernel';
import { Heard } from '../heard.js';

export const outputFrame = (projectId: string, headOffset: number): LiveFrame => ({
  kind: 'output',
  output: { projectId, runId: newId(), headOffset, ended: false },
});

export const deltaOf = (projectId: string, runId: string, epoch: number, text: string): DeltaFrame => ({
  projectId,
  runId,
  epoch,
  messageId: 'm',
  blockIndex: 0,
  blockType: 'text',
  offset: 0,
  text,
});

/** `bus()`: another end of the same bus at each call. */
export function describeLiveBus(name: string, bus: () => LiveBus): void {
  describe(`${name} as a LiveBus`, () => {
    it('carries the frames of a project in order to every listener, and none of another project', async () => {
      const [projectId, other] = [newId(), newId()];
      const [speaker, reader] = [bus(), bus()];
      const [first, second] = [new Heard<LiveFrame>(), new Heard<LiveFrame>()];
      await reader.subscribe(projectId, first.listen);
      await reader.subscribe(projectId, second.listen);
      speaker.publish(other, outputFrame(other, 1));
      const frames = Array.from({ length: 20 }, (_, index) => outputFrame(projectId, index));
      for (const frame of frames) speaker.publish(projectId, frame);
      for (const frame of frames) {
        expect(await first.next()).toEqual(frame);
        expect(await second.next()).toEqual(frame);
      }
    });

    it('is silent for a listener that left, and goes on for the others', async () => {
      const projectId = newId();
      const [speaker, reader] = [bus(), bus()];
      const [gone, stays] = [new Heard<LiveFrame>(), new Heard<LiveFrame>()];
      const subscription = await reader.subscribe(projectId, gone.listen);
      await reader.subscribe(projectId, stays.listen);
      await subscription.unsubscribe();
      speaker.publish(projectId, outputFrame(projectId, 1));
      await stays.next();
      expect(gone.all).toEqual([]);
    });

    it('can be joined again right after it was left', async () => {
      const projectId = newId();
      const [speaker, reader] = [bus(), bus()];
      const heard = new Heard<LiveFrame>();
      for (let i = 0; i < 5; i += 1) await (await reader.subscribe(projectId, heard.listen)).unsubscribe();
      await reader.subscribe(projectId, heard.listen);
      speaker.publish(projectId, outputFrame(projectId, 1));
      await heard.next();
      expect(heard.all).toHaveLength(1);
    });

    it('wakes those who listen for a host', async () => {
      const hostId = newId();
      const [speaker, reader] = [bus(), bus()];
      const heard = new Heard<string>();
      await reader.onWake(hostId, () => heard.listen('woken'));
      // onWake does not wait for the subscription: a frame of the same connection says that it stands.
      await reader.subscribe(newId(), () => undefined);
      speaker.wakeHost(hostId);
      await heard.next();
    });

    it('ENG-7 gives newcomers the unfinished message of each run, of its newest epoch only', async () => {
      const [projectId, runId, other] = [newId(), newId(), newId()];
      const live = bus();
      await live.savePartial(projectId, runId, [deltaOf(projectId, runId, 2, 'new')]);
      await live.savePartial(projectId, runId, [deltaOf(projectId, runId, 1, 'of a worker that lost the run')]);
      await live.savePartial(projectId, other, [deltaOf(projectId, other, 1, 'other')]);
      const texts = (await bus().partials(projectId)).map(({ text }) => text).sort();
      expect(texts).toEqual(['new', 'other']);
      await live.clearPartial(projectId, runId);
      expect((await live.partials(projectId)).map(({ text }) => text)).toEqual(['other']);
      expect(await live.partials(newId())).toEqual([]);
    });
  });
}
