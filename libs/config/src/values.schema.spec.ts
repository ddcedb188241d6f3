// What each kind of value accepts and what it becomes.
import {
  absolutePath,
  decimal,
  flag,
  httpUrl,
  integer,
  originList,
  pathList,
  secretText,
  type ValueSchema,
} from './values.schema.js';

const read = <T>(schema: ValueSchema<T>, text: string): T | 'refused' => {
  const result = schema.safeParse(text);
  return result.success ? result.data : 'refused';
};

describe('values', () => {
  it.each([
    ['/a//b/./c/', '/a/b/c'],
    ['/', '/'],
    ['/a/../b', 'refused'],
    ['a/b', 'refused'],
    ['/a\0b', 'refused'],
  ])('CFG-12 a path %j becomes %j', (text, expected) => expect(read(absolutePath(), text)).toBe(expected));

  it('CFG-12 a list of paths is split at colons, each once', () => {
    expect(read(pathList(), '/a:/b/:/a')).toEqual(['/a', '/b']);
    expect(read(pathList(), ':')).toBe('refused');
    expect(read(pathList(), '/a:b')).toBe('refused');
  });

  it('CFG-12 origins become what browsers send', () => {
    expect(read(originList(), 'HTTPS://Gantry.Example:443, http://localhost:80/')).toEqual([
      'https://gantry.example',
      'http://localhost',
    ]);
    for (const wrong of ['gantry.example', 'https://a/b', 'https://a?b', 'https://u@a', 'ftp://a', '*']) {
      expect(read(originList(), wrong)).toBe('refused');
    }
  });

  it.each(['1e3', ' 5', '0x10', '5.0', '-1', '99999999999999999999', ''])('a whole number is not %j', (text) => {
    expect(read(integer(0, 100_000), text)).toBe('refused');
  });

  it('numbers keep to their range', () => {
    expect(read(integer(1, 5), '5')).toBe(5);
    expect(read(integer(1, 5), '6')).toBe('refused');
    expect(read(decimal(0.1, 4), '0.5')).toBe(0.5);
    expect(read(decimal(0.1, 4), '.5')).toBe('refused');
  });

  it('switches, base URLs and secrets', () => {
    expect(['0', '1', 'true', 'false', 'yes'].map((text) => read(flag(), text))).toEqual([
      false,
      true,
      true,
      false,
      'refused',
    ]);
    expect(read(httpUrl(), 'https://api.example/v1//')).toBe('https://api.example/v1');
    expect(read(httpUrl(), 'https://u:p@api.example')).toBe('refused');
    expect(read(secretText(), 'key\nX-Evil: 1')).toBe('refused');
  });
});
