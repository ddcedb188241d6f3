// Which folders may become projects.
import fc from 'fast-check';
import { checkProjectPath, isWithin, pathsNest } from './project-path.js';

const roots = ['/srv/projects', '/home/team/'];
const codeOf = (path: string): string => {
  try {
    checkProjectPath(path, roots);
    return 'ok';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

it.each([
  ['/srv/projects/a', 'ok'],
  ['/srv/projects//a/', 'ok'],
  ['/home/team/x', 'ok'],
  ['srv/projects/a', 'project.path_relative'],
  ['', 'project.path_relative'],
  ['/srv/projects/../etc', 'project.path_traversal'],
  ['/srv/projects/./a', 'project.path_traversal'],
  ['/srv/projects/a\0b', 'project.path_nul'],
  ['/etc', 'project.path_outside_roots'],
  ['/srv/projects', 'project.path_outside_roots'],
  ['/srv/projects-evil/a', 'project.path_outside_roots'],
  ['/', 'project.path_outside_roots'],
])('DATA-18 checks %j: %s', (path, code) => {
  expect(codeOf(path)).toBe(code);
});

it('DATA-18 whatever passes lies beneath a root', () => {
  const part = fc.constantFrom('a', '..', '.', '', 'srv', 'projects', 'home', 'team', '\0', 'projects-evil');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      const path = `/${parts.join('/')}`;
      if (codeOf(path) !== 'ok') return;
      const clean = checkProjectPath(path, roots);
      expect(clean).not.toMatch(/\/\.\.?(\/|$)|\/\/|\/$|\0/);
      expect(isWithin(clean, '/srv/projects') || isWithin(clean, '/home/team')).toBe(true);
    }),
  );
});

it('DATA-11 sees nesting in both directions and no false ones', () => {
  expect(pathsNest('/a/b', '/a')).toBe(true);
  expect(pathsNest('/a', '/a/b')).toBe(true);
  expect(pathsNest('/a', '/ab')).toBe(false);
  expect(pathsNest('/a', '/a')).toBe(false);
});
