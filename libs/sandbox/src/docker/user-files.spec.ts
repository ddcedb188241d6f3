// /etc/passwd and /etc/group with the sandbox user in them.
import { userFiles } from './user-files.js';

const user = { uid: 1000, gid: 1000, home: '/home/agent' };
const root = 'root:x:0:0:root:/root:/bin/bash';

describe('the user files', () => {
  it('SBX-18 add a user whom the image does not know', () => {
    expect(userFiles({ passwd: `${root}\n`, group: 'root:x:0:\n' }, user)).toEqual({
      passwd: `${root}\nagent:x:1000:1000:Gantry sandbox:/home/agent:/bin/sh\n`,
      group: 'root:x:0:\nagent:x:1000:\n',
      userName: 'agent',
    });
  });

  it("SBX-18 keep the image's name and shell for that uid, with our home and group", () => {
    const image = { passwd: `${root}\nnode:x:1000:1000:Node:/home/node:/bin/zsh`, group: 'node:x:1000:\n' };
    expect(userFiles(image, user)).toEqual({
      passwd: `${root}\nnode:x:1000:1000:Gantry sandbox:/home/agent:/bin/zsh\n`,
      group: 'node:x:1000:\n',
      userName: 'node',
    });
  });

  it('SBX-18 find a name that nobody has', () => {
    const image = { passwd: 'agent:x:5:5::/:/bin/sh\n', group: 'agent:x:5:\nagent2:x:6:\n' };
    const files = userFiles(image, { ...user, uid: 4242, gid: 4343 });
    expect(files.userName).toBe('agent2');
    expect(files.group).toContain('agent3:x:4343:\n');
  });

  it('SBX-18 leave out what is no entry', () => {
    expect(userFiles({ passwd: '\n\n+\nroot:x:0:0::/:\n', group: '' }, user).passwd.split('\n')).toHaveLength(3);
  });
});
