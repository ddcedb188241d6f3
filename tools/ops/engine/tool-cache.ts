// The programs that are mounted into sandboxes: fetched once per machine, laid out once per content in an immutable folder (R20, OPS-12).
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  createReadStream,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { checkout } from '../checkout.ts';
import { runCommand } from '../host/run-command.ts';
import { StepError, type Say } from '../step.ts';
import { claudePackage } from './pinned-tools.ts';

export interface ToolFiles {
  /** The immutable folder: `<data>/tools/<sha256>`. */
  folder: string;
  node: string;
  claude: string;
  sandboxd: string;
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

/** The `claude` program in the cache folder; fetched with npm and checked the first time. */
export async function cachedClaude(cacheDir: string, say: Say): Promise<string> {
  const { spec, integrity } = claudePackage();
  const file = join(cacheDir, 'tools', createHash('sha256').update(integrity).digest('hex').slice(0, 16), 'claude');
  if (existsSync(file)) return file;
  say(`fetching ${spec}`);
  mkdirSync(join(cacheDir, 'tools'), { recursive: true });
  const draft = mkdtempSync(join(cacheDir, 'tools', 'new-'));
  try {
    const listing = await npmPack(spec, draft);
    const [packed] = JSON.parse(listing) as { filename: string }[];
    const archive = join(draft, packed?.filename ?? '');
    await checkIntegrity(archive, spec, integrity);
    await runCommand('tar', ['-xzf', archive, '-C', draft, '--strip-components=1', 'package/claude']);
    rmSync(archive);
    chmodSync(join(draft, 'claude'), 0o555);
    mkdirSync(join(file, '..'), { recursive: true });
    renameSync(join(draft, 'claude'), file);
  } finally {
    rmSync(draft, { recursive: true });
  }
  return file;
}

async function npmPack(spec: string, folder: string): Promise<string> {
  try {
    return await runCommand('npm', ['pack', spec, '--json', '--pack-destination', folder, '--ignore-scripts']);
  } catch (error) {
    throw new StepError(
      `npm could not fetch ${spec}: ${error instanceof Error ? error.message : String(error)}`,
      'See that the npm registry is reachable (npm ping), then run it again.',
      error,
    );
  }
}

async function checkIntegrity(archive: string, spec: string, integrity: string): Promise<void> {
  const hash = createHash('sha512');
  await pipeline(createReadStream(archive), hash);
  const found = `sha512-${hash.digest('base64')}`;
  if (found !== integrity) {
    throw new StepError(
      `${spec} has another content than the one this version was made with.`,
      'Do not use it; report it.',
    );
  }
}

/** Hash of a large program without reading it each time: its own, remembered beside its size and time of change. */
async function rememberedHash(cacheDir: string, file: string): Promise<string> {
  const { size, mtimeMs, ino } = statSync(file);
  const key = createHash('sha256')
    .update(`${realpathSync(file)}\0${size}\0${mtimeMs}\0${ino}`)
    .digest('hex');
  const memo = join(cacheDir, 'hashes', key);
  if (existsSync(memo)) return readFileSync(memo, 'utf8');
  const hash = await sha256Of(file);
  mkdirSync(join(cacheDir, 'hashes'), { recursive: true });
  writeFileSync(memo, hash);
  return hash;
}

/** node as npm installed it: the same program that runs the services. */
export const packagedNode = (): string =>
  realpathSync(join(checkout, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node'));

/**
 * Lays the three programs out in `<toolsDir>/<sha256 of their contents>`, read-only; hard links where the file system allows. A folder that
 * exists is complete and is never changed: running sandboxes have it mounted.
 */
export async function layOutTools(
  toolsDir: string,
  cacheDir: string,
  sources: { node: string; claude: string; sandboxd: string },
): Promise<ToolFiles> {
  const names = { node: 'node', claude: 'claude', sandboxd: 'sandboxd.cjs' } as const;
  const tools = Object.keys(names) as (keyof typeof names)[];
  const hash = createHash('sha256');
  for (const tool of tools) hash.update(`${tool}\0${await rememberedHash(cacheDir, sources[tool])}\0`);
  const folder = join(toolsDir, hash.digest('hex'));
  if (!existsSync(folder)) {
    mkdirSync(toolsDir, { recursive: true });
    const draft = mkdtempSync(join(toolsDir, '.new-'));
    for (const tool of tools) placeFile(sources[tool], join(draft, names[tool]));
    chmodSync(draft, 0o755);
    renameSync(draft, folder);
  }
  const at = (tool: keyof typeof names): string => join(folder, names[tool]);
  return { folder, node: at('node'), claude: at('claude'), sandboxd: at('sandboxd') };
}

/** A link costs nothing, but shares the file: only for programs that are replaced as a whole, as npm and our cache do. */
function placeFile(source: string, target: string): void {
  if (!source.endsWith('.cjs') && linked(source, target)) return;
  copyFileSync(source, target);
  chmodSync(target, 0o555);
}

function linked(source: string, target: string): boolean {
  try {
    linkSync(source, target);
    return true;
  } catch (error) {
    // Another file system, or one without links.
    if (['EXDEV', 'EPERM', 'EMLINK'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}
