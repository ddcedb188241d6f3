// Run after every change of package-lock.json: names the optional packages for other platforms that `npm install` left out of it because
// the registry it asked does not carry them. Without their names `npm ci` refuses the lock file ("Missing: @swc/core-darwin-arm64@ from
// lock file"); with them it downloads nothing more, because their platform is not this one.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { missingOptionals, type LockFile } from './ops/lock-file.ts';
import { checkout } from './ops/checkout.ts';

const file = join(checkout, 'package-lock.json');
const lock = JSON.parse(readFileSync(file, 'utf8')) as LockFile;
const missing = missingOptionals(lock);
lock.packages = Object.fromEntries(
  Object.entries({ ...lock.packages, ...missing }).sort(([first], [second]) => (first < second ? -1 : 1)),
);
const added = Object.keys(missing);
if (added.length > 0) writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(added.length > 0 ? `added ${added.length}: ${added.join(', ')}` : 'the lock file is complete');
