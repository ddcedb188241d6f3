// Why a sandbox ended before it was ready, from its exit code and its log (R22). Pure.
import { AppError } from '#kernel';

export interface EndedStart {
  exitCode: number;
  /** The last lines of the container's log. */
  log: string;
  outOfMemory: boolean;
}

/** What loaders and the init process say, and the lack that it means. */
const LACKS: readonly (readonly [RegExp, (match: RegExpExecArray) => string])[] = [
  [/version [`']GLIBC_([\d.]+)' not found/, ([, version]) => `glibc ${version ?? ''} or newer`],
  [/version [`'](GLIBCXX_[\d.]+|CXXABI_[\d.]+)' not found/, () => 'a newer libstdc++'],
  [/error while loading shared libraries: ([\w.+-]+):/, ([, library]) => library ?? 'a shared library'],
  [/exec \/opt\/gantry\/bin\/node failed: No such file or directory/, () => 'glibc'],
  [/exec \/opt\/gantry\/bin\/node failed: Exec format error/, () => "programs of this machine's architecture"],
];

export function startupFailure({ exitCode, log, outOfMemory }: EndedStart): AppError {
  const missing = missingBySupervisor(log) ?? missingByLoader(log);
  if (missing) return imageUnsupported(missing, log);
  if (outOfMemory) return new AppError('sandbox.out_of_memory', 'The sandbox ran out of memory while it started.');
  return new AppError('sandbox.start_failed', 'The sandbox ended while it started.', {
    details: { exit_code: exitCode },
    cause: new Error(log),
  });
}

export function imageUnsupported(missing: string[], log: string): AppError {
  return new AppError('sandbox.image_unsupported', `The sandbox image lacks ${missing.join(', ')}.`, {
    details: { missing },
    cause: new Error(log),
  });
}

/** sandboxd's own finding: a line of JSON. */
function missingBySupervisor(log: string): string[] | null {
  const line = log.split('\n').find((candidate) => candidate.includes('"event":"image_unsupported"'));
  const listed = line === undefined ? undefined : /"missing":(\[[^\]]*\])/.exec(line)?.[1];
  if (listed === undefined) return null;
  const missing: unknown = JSON.parse(listed);
  return Array.isArray(missing) ? missing.map(String) : null;
}

function missingByLoader(log: string): string[] | null {
  for (const [pattern, name] of LACKS) {
    const match = pattern.exec(log);
    if (match) return [name(match)];
  }
  return null;
}
