// Starts one job: as the sandbox user, in a session of its own, with its mark, its pipes and a higher out-of-memory score. The
// fork happens in one turn of the event loop: folder, ids and score of this process are changed for its moment and put back.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { StartProcess } from '#sandbox/wire';
import { jobEnvironment, unusableName } from './job-environment.js';
import { type JobUser, asUser, executableProblem } from './job-user.js';
import { markedCommand } from './launch-mark.js';
import type { Pipe, PipeStock } from './pipe-stock.js';

/** Jobs die before sandboxd when memory ends (proc_pid_oom_score_adj(5)). */
const JOB_OOM_SCORE = 500;
const OOM_SCORE_FILE = '/proc/self/oom_score_adj';

/** Why a job did not start: an errno name, and what it is about. */
export class LaunchFailure extends Error {
  constructor(
    readonly errno: string,
    readonly at: 'cwd' | 'program',
  ) {
    super(`The process could not start: ${errno}`);
  }
}

export interface LaunchedJob {
  child: ChildProcess;
  pid: number;
  /** Our ends of its standard streams; `stdin` is null for /dev/null. */
  stdin: number | null;
  stdout: number;
  stderr: number;
}

export class Launcher {
  private readonly ownOomScore = readFileSync(OOM_SCORE_FILE, 'latin1').trim();

  constructor(
    private readonly user: JobUser,
    private readonly containerEnvironment: Readonly<Record<string, string | undefined>>,
    private readonly pipes: PipeStock,
  ) {}

  /** Throws LaunchFailure, and then nothing is left open. */
  async launch(request: StartProcess, mark: number): Promise<LaunchedJob> {
    const env = this.environment(request);
    const ours: number[] = [];
    const theirs: number[] = [];
    const keep = ({ ours: own, theirs: its }: Pipe): number => {
      ours.push(own);
      theirs.push(its);
      return own;
    };
    try {
      const names = await this.pipes.take(request.stdin === 'pipe' ? 3 : 2);
      let stdin: number | null = null;
      if (names[2] !== undefined) stdin = keep(this.pipes.openForInput(names[2]));
      else theirs.push(openSync('/dev/null', 'r'));
      const stdout = keep(this.pipes.openForOutput(names[0]));
      const stderr = keep(this.pipes.openForOutput(names[1]));
      const child = this.fork(request, mark, env, theirs);
      if (child.pid === undefined) throw (await once(child, 'error'))[0];
      return { child, pid: child.pid, stdin, stdout, stderr };
    } catch (error) {
      ours.forEach(closeSync);
      throw asLaunchFailure(error);
    } finally {
      theirs.forEach(closeSync);
    }
  }

  /** The checks that give a typed answer where a shell could only print a sentence. */
  private environment({ argv, cwd, env: requested }: StartProcess): Record<string, string> {
    const [program] = argv;
    if (program === undefined || argv.some((word) => word.includes('\0'))) throw new LaunchFailure('EINVAL', 'program');
    if (unusableName(requested) !== undefined) throw new LaunchFailure('EINVAL', 'program');
    if (!isAbsolute(cwd) || cwd.includes('\0')) throw new LaunchFailure('EINVAL', 'cwd');
    const env = jobEnvironment(this.containerEnvironment, this.user, requested);
    this.enterFolder(cwd);
    process.chdir('/');
    // The shell would take a leading dash for an option of its own; a file of such a name can be given as ./-name.
    const problem = program.startsWith('-') ? 'ENOENT' : executableProblem(this.user, program, cwd, env['PATH'] ?? '');
    if (problem !== null) throw new LaunchFailure(problem, 'program');
    return env;
  }

  private enterFolder(cwd: string): void {
    try {
      asUser(this.user, () => process.chdir(cwd));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === undefined) throw error;
      throw new LaunchFailure(code, 'cwd');
    }
  }

  /** The child inherits the folder: it could not enter one that is closed to root without capabilities. */
  private fork(request: StartProcess, mark: number, env: Record<string, string>, stdio: number[]): ChildProcess {
    const { file, args } = markedCommand(mark, request.argv);
    this.enterFolder(request.cwd);
    try {
      writeFileSync(OOM_SCORE_FILE, String(JOB_OOM_SCORE));
      return spawn(file, args, { uid: this.user.uid, gid: this.user.gid, env, stdio, detached: true });
    } finally {
      writeFileSync(OOM_SCORE_FILE, this.ownOomScore);
      process.chdir('/');
    }
  }
}

function asLaunchFailure(error: unknown): LaunchFailure {
  if (error instanceof LaunchFailure) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  return new LaunchFailure(code, 'program');
}
