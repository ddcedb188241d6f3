// What a worker says of its machine.
import { tmpdir } from 'node:os';
import { HostLoadMeter } from './host-load.js';

it('RET-16 measures processors, memory and the disks of data and projects; a folder that is missing is left out', async () => {
  const meter = new HostLoadMeter({ dataDir: tmpdir(), projectRoots: ['/', '/there/is/no/such/folder'] });
  const { cpuPercent, memoryUsedBytes, memoryTotalBytes, disks } = await meter.measure();
  expect(cpuPercent).toBeGreaterThanOrEqual(0);
  expect(cpuPercent).toBeLessThanOrEqual(100);
  expect(memoryUsedBytes).toBeGreaterThan(0);
  expect(memoryUsedBytes).toBeLessThan(memoryTotalBytes);
  expect(disks.map(({ disk }) => disk)).toEqual(['data', 'projects-1']);
  expect(disks.every(({ freeBytes, totalBytes }) => freeBytes > 0 && freeBytes <= totalBytes)).toBe(true);
});
