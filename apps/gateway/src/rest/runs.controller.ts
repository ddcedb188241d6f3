// HTTP routes about runs: queueing, watching until the end, cancelling.
import { Controller, Inject } from '@nestjs/common';
import type { RunStore } from '#domain';
import { AppError } from '#kernel';
import { type ClientData, REST_PREFIX, type RunInfo } from '#protocol';
import { PORT } from '../ports.js';
import { toRunInfo } from '../runs/run.wire.js';
import { Call, type RestCall } from './rest-call.js';
import { Route } from './rest-routing.js';
import { RunEnd } from './run-end.js';
import { idempotencyKeyOf, UseCases } from './use-cases.js';

@Controller()
export class RunsController {
  constructor(
    private readonly useCases: UseCases,
    private readonly end: RunEnd,
    @Inject(PORT.runs) private readonly runs: RunStore,
  ) {}

  @Route('listRuns')
  list(@Call() call: RestCall): Promise<ClientData<'run_list'>> {
    return this.useCases.answer('run_list', call);
  }

  @Route('createRun')
  async create(@Call() call: RestCall<'createRun'>): Promise<RunInfo> {
    const { kind, ...payload } = call.body;
    const asked = { ...call.params, ...payload, ...idempotencyKeyOf(call) };
    const event = kind === 'prompt' ? 'execute' : 'execute_command';
    const { run_id: runId } = await this.useCases.answer(event, call, asked);
    call.response.location(`${REST_PREFIX}/runs/${runId}`);
    return this.waited(runId, call);
  }

  @Route('getRun')
  async get(@Call() call: RestCall<'getRun'>): Promise<RunInfo> {
    const run = await this.useCases.answer('run_get', call, call.params);
    return call.query.wait === undefined ? run : this.waited(run.run_id, call);
  }

  @Route('cancelRun')
  async cancel(@Call() call: RestCall<'cancelRun'>): Promise<RunInfo> {
    const run = await this.useCases.answer('run_cancel', call, call.params);
    return call.query.wait === undefined ? run : this.waited(run.run_id, call);
  }

  /** The run as it is when it is over, or when the client has waited for as long as it wanted. */
  private async waited(runId: string, call: RestCall<'createRun' | 'getRun' | 'cancelRun'>): Promise<RunInfo> {
    const { wait = 0 } = call.query;
    const { project } = call.context;
    if (wait > 0 && project !== undefined) {
      await this.end.reached({ runId, projectId: project.projectId }, wait, call.gone);
    }
    const run = await this.runs.findQueued(runId);
    if (run === undefined) throw new AppError('run.not_found', 'There is no such run.');
    return toRunInfo(run);
  }
}
