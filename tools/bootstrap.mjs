// The first program of every make target. Plain JavaScript for any Node, so that it can say what is missing: it checks the machine, installs
// the npm packages when they do not fit the lock file, and goes on in tools/gantry.ts on the Node that came with them.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const checkout = join(dirname(fileURLToPath(import.meta.url)), '..');
const ownNode = join(checkout, 'node_modules', '.bin', 'node');
const OLDEST_NODE = [20, 19];

function fail(reason, next) {
  process.stderr.write(`✗ ${reason}\n  Next: ${next}\n`);
  process.exit(1);
}

function checkMachine() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) {
    fail(
      `Node ${process.versions.node} is too old.`,
      `install Node ${OLDEST_NODE.join('.')} or later; the services bring their own.`,
    );
  }
  if (process.platform !== 'linux') {
    fail(
      `Gantry runs on Linux; this is ${process.platform}.`,
      'use a Linux machine or a Linux VM (Lima, Multipass, OrbStack), on Windows WSL2, and run it inside.',
    );
  }
  if (!['x64', 'arm64'].includes(process.arch))
    fail(`There are no programs for ${process.arch}.`, 'use x86-64 or arm64.');
  if (process.report.getReport().header.glibcVersionRuntime === undefined) {
    fail('This Linux has no glibc (Alpine?).', 'use a distribution with glibc: Debian, Ubuntu, Fedora, …');
  }
}

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

/** What the lock file asks for and node_modules lacks, by npm's own record of what it installed. */
function missingPackage() {
  const recordFile = join(checkout, 'node_modules', '.package-lock.json');
  if (!existsSync(recordFile) || !existsSync(ownNode)) return 'node_modules';
  const installed = readJson(recordFile).packages;
  const wanted = readJson(join(checkout, 'package-lock.json')).packages;
  return Object.keys(wanted).find((path) => {
    if (path === '' || wanted[path].link) return false;
    if (!path.startsWith('node_modules/')) return false; // a folder of ours
    const found = installed[path];
    if (!found) return !wanted[path].optional; // left out on purpose: made for another platform
    return found.version !== wanted[path].version;
  });
}

/** Runs a program on this terminal; signals reach it by the terminal too, so only its end counts. */
function run(program, args, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: checkout,
      stdio: ['inherit', env ? 2 : 'inherit', 'inherit'],
      env: { ...process.env, ...env },
    });
    const forward = (signal) => child.kill(signal);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, forward);
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(signal ? 1 : code));
  });
}

async function installPackages(missing) {
  const start = Date.now();
  process.stderr.write(`  Packages: npm ci, because ${missing} is missing or another version (about a minute)\n`);
  const code = await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    npm_config_progress: 'false',
  }).catch((error) => fail(`npm cannot be run: ${error.message}`, 'install npm; it usually comes with Node.'));
  if (code !== 0)
    fail(`npm ci ended with code ${code}.`, 'read its message above; most often the registry is not reachable.');
  process.stderr.write(`✓ Packages (${((Date.now() - start) / 1000).toFixed(1)} s)\n`);
}

checkMachine();
const args = process.argv.slice(2);
const missing = missingPackage();
if (missing) await installPackages(missing);
process.exitCode = await run(ownNode, [join(checkout, 'tools', 'gantry.ts'), ...args]);
