// The baseline of the engine: a bare BullMQ worker that does nothing with its jobs. Says how many it has done.
import { Worker } from 'bullmq';

const [queue = '', redisUrl = '', concurrency = '1'] = process.argv.slice(2);
let done = 0;
const worker = new Worker(queue, async () => undefined, {
  connection: { url: redisUrl, maxRetriesPerRequest: null },
  concurrency: Number(concurrency),
  removeOnComplete: { count: 0 },
});
worker.on('completed', () => process.send?.({ done: (done += 1) }));
await worker.waitUntilReady();
process.send?.({ done });
process.once('disconnect', () => {
  void worker.close().then(() => process.exit(0));
});
