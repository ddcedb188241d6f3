// Work under which things are broken: commands of several projects and lanes that write a ledger, submitted by clients that never give up.
import { mkdirSync, chownSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '#testing';
import { type Entry, judgeLedger, LEDGER_FILE, ledgered, type Verdict } from '../ledger.ts';
import { equal, type Finding, never } from '../scenario.ts';
import type { Seeded } from '../seeded.ts';
import type { ChaosStack } from './chaos-stack.ts';
import type { LiveSocket } from './live-socket.ts';

/** Work of one command. */
export interface WorkOptions {
  /** Longest sleep of an ordinary command, ms. */
  workMs?: number;
  /** Share of commands that take seconds, 0 to 1. */
  longShare?: number;
  /** Share of commands with a lane of their own, 0 to 1. */
  parallelShare?: number;
  /** Time between two submissions to a project, ms. */
  paceMs?: number;
}

export interface LoadProject {
  projectId: string;
  folder: string;
  client: LiveSocket;
  entries: (Entry & { runId: string })[];
  submitted: number;
}

const OWNER = 1000;
const UNFINISHED = "('queued', 'dispatched', 'running', 'waiting', 'parked', 'paused')";

export class Load {
  readonly projects: LoadProject[] = [];
  readonly #stack: ChaosStack;
  readonly #random: Seeded;
  #extra = 0;

  private constructor(stack: ChaosStack, random: Seeded) {
    this.#stack = stack;
    this.#random = random;
  }

  static async open(stack: ChaosStack, random: Seeded, projects: number): Promise<Load> {
    const load = new Load(stack, random.fork('load'));
    for (let index = 0; index < projects; index += 1) await load.#addProject(`p${index}`);
    return load;
  }

  /** Submits `count` commands in turn to all projects; resolves when all are acknowledged. */
  async submit(count: number, options: WorkOptions = {}): Promise<void> {
    const shares = this.projects.map((_, index) => Math.ceil((count - index) / this.projects.length));
    await Promise.all(this.projects.map((project, index) => this.#submitTo(project, shares[index] ?? 0, options)));
  }

  /** Queues prompts of one conversation that run one command each, in a lane of their own kind. Needs `agents`. */
  async submitPrompts(count: number): Promise<void> {
    const [project] = this.projects;
    for (let index = 0; project !== undefined && index < count; index += 1) {
      const id = `prompt-${index}`;
      const { run_id: runId } = await project.client.call('execute', {
        project_id: project.projectId,
        prompt: `demo:bash ${ledgered(id, 'sleep 0.2')}`,
        lane: 'agents',
        options: { dangerously_skip_permissions: true },
        idempotency_key: `${project.projectId}/${id}`,
      });
      project.entries.push({ id, lane: 'agents', runId: runId as string });
    }
  }

  /** Queues one command beside the ledger; gives its run. */
  async command({ projectId, client }: LoadProject, command: string, parallel = false): Promise<string> {
    const key = `${projectId}/command/${this.#extra}`;
    this.#extra += 1;
    const request = { project_id: projectId, command, parallel, timeout_ms: 3_600_000, idempotency_key: key };
    const { run_id: runId } = await client.call('execute_command', request);
    return runId as string;
  }

  /** What a command prints, in a lane of its own. */
  async look(project: LoadProject, command: string): Promise<string> {
    const runId = await this.command(project, command, true);
    const over = `id = '${runId}' AND status NOT IN ${UNFINISHED}`;
    await until('the command has ended', async () => (await this.#count(over)) === 1, 60_000);
    const request = { command_session_id: `cmd-${runId}` };
    return String((await project.client.call('get_command_output', request))['output']);
  }

  get acknowledged(): number {
    return this.projects.reduce((sum, { entries }) => sum + entries.length, 0);
  }

  /** Runs that are over. Undefined when Postgres does not answer. */
  async finished(): Promise<number | undefined> {
    return this.#count(`status NOT IN ${UNFINISHED}`);
  }

  /** Resolves when at least that many runs are over. */
  async progress(count: number, deadlineMs = 120_000): Promise<void> {
    await until(`${count} runs are over`, async () => ((await this.finished()) ?? 0) >= count, deadlineMs);
  }

  /** Resolves with the time, ms, until something began or ended that was committed after this call. */
  async goesOn(deadlineMs = 120_000): Promise<number> {
    const from = performance.now();
    const since = new Date().toISOString();
    const moved = `started_at >= '${since}' OR finished_at >= '${since}'`;
    await until(
      'the work goes on',
      async () => {
        const [news, left] = [await this.#count(moved), await this.#count(`status IN ${UNFINISHED}`)];
        return (news ?? 0) > 0 || left === 0;
      },
      deadlineMs,
    );
    return performance.now() - from;
  }

  /** Resolves when no run is left; throws at the deadline. */
  async settled(deadlineMs = 120_000): Promise<void> {
    await until('all runs are over', async () => (await this.#count(`status IN ${UNFINISHED}`)) === 0, deadlineMs);
  }

  /** The number of each project's newest event. */
  async heads(): Promise<number[]> {
    const rows = await this.#rows<{ id: string; head: number }>(
      'SELECT project_id::text AS id, head_seq::int AS head FROM project_head',
    );
    const heads = new Map(rows?.map(({ id, head }) => [id, head]));
    return this.projects.map(({ projectId }) => heads.get(projectId) ?? 0);
  }

  /** What the ledgers, the rows and the stored output say, once all runs are over. */
  async findings(): Promise<Finding[]> {
    const found: Verdict = { lost: [], twice: [], outOfOrder: [], overlapping: [] };
    for (const { folder, entries, projectId } of this.projects) {
      const file = join(folder, LEDGER_FILE);
      const verdict = judgeLedger(existsSync(file) ? readFileSync(file, 'utf8') : '', entries);
      const short = projectId.slice(-4);
      for (const kind of Object.keys(found) as (keyof Verdict)[]) {
        found[kind].push(...verdict[kind].map((id) => `${short}/${id}`));
      }
    }
    return [
      never('acknowledged runs lost', found.lost),
      never('runs executed twice', found.twice),
      never('runs out of order', found.outOfOrder),
      never('overlaps in a lane', found.overlapping),
      equal('runs stored for those acknowledged', this.acknowledged, (await this.#count('TRUE')) ?? -1),
      never('runs that did not succeed', await this.#unsuccessful()),
      never('outputs that are not what was written', await this.#wrongOutputs()),
      never('projects with a gap in their events', await this.#gaps()),
    ];
  }

  /** Requests of the load's clients: how often they were refused in a way that does not say to try again. */
  get unclean(): string[] {
    return this.projects.flatMap(({ client }) => client.unclean);
  }

  get unanswered(): number {
    return this.projects.reduce((sum, { client }) => sum + client.unanswered, 0);
  }

  get refused(): number {
    return this.projects.reduce((sum, { client }) => sum + [...client.refusals.values()].reduce((a, b) => a + b, 0), 0);
  }

  async #addProject(name: string): Promise<void> {
    const folder = join(this.#stack.projectRoot, name);
    mkdirSync(folder);
    chownSync(folder, OWNER, OWNER);
    const client = this.#stack.socket(`load/${name}`);
    const { project_id: projectId } = await client.call('project_create', { path: folder, idempotency_key: name });
    this.projects.push({ projectId: projectId as string, folder, client, entries: [], submitted: 0 });
  }

  async #submitTo(project: LoadProject, count: number, options: WorkOptions): Promise<void> {
    const { workMs = 300, longShare = 0.05, parallelShare = 0.2, paceMs = 0 } = options;
    for (let left = count; left > 0; left -= 1) {
      const id = `c${project.submitted}`;
      project.submitted += 1;
      const parallel = this.#random.chance(parallelShare);
      const ms = this.#random.chance(longShare) ? this.#random.int(2_000, 4_000) : this.#random.int(0, workMs);
      const { run_id: runId } = await project.client.call('execute_command', {
        project_id: project.projectId,
        command: `echo "out ${id}"; ${ledgered(id, `sleep ${(ms / 1000).toFixed(3)}`)}`,
        parallel,
        idempotency_key: `${project.projectId}/${id}`,
      });
      project.entries.push({ id, lane: parallel ? undefined : 'main', runId: runId as string });
      if (paceMs > 0) await delay(paceMs);
    }
  }

  async #rows<T>(query: string): Promise<T[] | undefined> {
    try {
      return await this.#stack.database.db.client.$queryRawUnsafe<T[]>(query);
    } catch {
      return undefined; // Postgres is away, which some scenarios are about: the caller asks again
    }
  }

  async #count(condition: string): Promise<number | undefined> {
    const rows = await this.#rows<{ count: number }>(`SELECT count(*)::int AS count FROM run WHERE ${condition}`);
    return rows?.[0]?.count;
  }

  async #unsuccessful(): Promise<string[]> {
    const rows = await this.#rows<{ name: string }>(
      "SELECT status || ' ' || coalesce(error_code, '') AS name FROM run WHERE status <> 'succeeded'",
    );
    return rows?.map(({ name }) => name) ?? ['unknown: Postgres does not answer'];
  }

  async #wrongOutputs(): Promise<string[]> {
    const rows = await this.#rows<{ id: string; output: string }>(
      `SELECT run_id::text AS id, string_agg(convert_from(data, 'UTF8'), '' ORDER BY "offset") AS output
       FROM output_chunk GROUP BY run_id`,
    );
    const stored = new Map(rows?.map(({ id, output }) => [id, output]));
    return this.projects.flatMap(({ entries }) =>
      entries
        .filter(({ id, runId }) => id.startsWith('c') && stored.get(runId) !== `out ${id}\n`)
        .map(({ id, runId }) => `${id}: ${JSON.stringify(stored.get(runId))}`),
    );
  }

  async #gaps(): Promise<string[]> {
    const rows = await this.#rows<{ id: string }>(
      `SELECT project_id::text AS id FROM event GROUP BY project_id
       HAVING count(*) <> max(seq) OR count(DISTINCT seq) <> count(*)`,
    );
    return rows?.map(({ id }) => id) ?? ['unknown: Postgres does not answer'];
  }
}
