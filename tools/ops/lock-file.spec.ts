// The lock file: complete for `npm ci`, whatever the registry it was made with carries.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkout } from './checkout.ts';
import { missingOptionals, type LockFile } from './lock-file.ts';

describe('the lock file', () => {
  it('OPS-29 names every optional package, so that npm ci takes it', () => {
    const lock = JSON.parse(readFileSync(join(checkout, 'package-lock.json'), 'utf8')) as LockFile;
    expect(missingOptionals(lock)).toEqual({});
  });

  it('OPS-29 finds what is missing, by platform, and nothing that is there', () => {
    const optionalDependencies = {
      '@x/core-darwin-arm64': '1.2.3',
      '@x/core-linux-x64': '^1.2.3',
      '@x/core-wasm32-wasi': '2.0.0',
    };
    const packages: LockFile['packages'] = {
      '': { optionalDependencies: { 'own-darwin-x64': '1.0.0' } },
      'node_modules/@x/core': { dev: true, optionalDependencies },
      'node_modules/@x/core/node_modules/@x/core-linux-x64': {},
      'node_modules/y': { optionalDependencies: { fsevents: '2.3.3', '@x/core-linux-x64': '1.2.3' } },
    };
    expect(missingOptionals({ packages })).toEqual({
      'node_modules/@x/core-darwin-arm64': {
        version: '1.2.3',
        os: ['darwin'],
        cpu: ['arm64'],
        dev: true,
        optional: true,
      },
      'node_modules/@x/core-wasm32-wasi': { version: '2.0.0', cpu: ['wasm32'], dev: true, optional: true },
      'node_modules/@x/core-linux-x64': { version: '1.2.3', os: ['linux'], cpu: ['x64'], optional: true },
    });
  });
});
