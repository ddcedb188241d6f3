// Where things lie.
import { dataLayout, socketFolder } from './data-layout.ts';

describe('the data folder', () => {
  it('OPS-8 holds the sockets while their paths fit', () => {
    expect(dataLayout('/srv/gantry/data', 0)).toMatchObject({
      brokerSocket: '/srv/gantry/data/broker/broker.sock',
      supervisorSocket: '/srv/gantry/data/run/supervisor.sock',
    });
  });

  it('OPS-8 leaves them to a short folder of its own when the path is too long for the kernel', () => {
    const long = `/srv/${'deep/'.repeat(20)}data`;
    for (const uid of [0, 1000]) {
      const { brokerSocket, supervisorSocket } = dataLayout(long, uid);
      for (const path of [brokerSocket, supervisorSocket]) expect(Buffer.byteLength(path)).toBeLessThanOrEqual(107);
    }
    expect(socketFolder(long, 0)).not.toBe(socketFolder(`${long}2`, 0));
  });
});
