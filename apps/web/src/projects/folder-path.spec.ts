// The folder of a new project.
import { folderPath } from './folder-path.js';

describe('folderPath', () => {
  it.each([
    ['my first try', '/srv/projects/my first try'],
    ['  spaced ', '/srv/projects/spaced'],
    ['/srv/projects/a', '/srv/projects/a'],
    ['/elsewhere', '/elsewhere'],
    ['a/b', 'a/b'],
    ['..', '/srv/projects/..'],
  ])('WEB-35 takes %j for %s', (typed, path) => expect(folderPath(typed, ['/srv/projects/', '/home/p'])).toBe(path));

  it.each(['', '  ', '/', '/srv/projects', '/srv/projects/', '/srv/projects//', '/home/p/'])(
    'WEB-35 finds no folder in %j',
    (typed) => expect(folderPath(typed, ['/srv/projects/', '/home/p'])).toBeUndefined(),
  );

  it('WEB-35 sends a name as it is when no root is known', () => expect(folderPath('a', [])).toBe('a'));
});
