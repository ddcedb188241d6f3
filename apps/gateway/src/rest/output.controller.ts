// The HTTP route to a command's output: its bytes by range of offsets.
import { Controller, Inject, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { OutputStore } from '#domain';
import { AppError } from '#kernel';
import { PORT } from '../ports.js';
import { sendPaced } from './paced-writer.js';
import { Call, type RestCall } from './rest-call.js';
import { Route } from './rest-routing.js';
import { type OutputPlan, planOutput, readStretch } from './stored-output.js';

@Controller()
export class OutputController {
  constructor(@Inject(PORT.outputs) private readonly outputs: OutputStore) {}

  @Route('getRunOutput')
  async get(@Call() call: RestCall<'getRunOutput'>, @Res() response: Response): Promise<void> {
    const { request, gone } = call;
    const runId = call.params['run_id'] ?? '';
    const plan = await this.plan(runId, call);
    response.set(plan.headers).status(plan.status);
    if (request.fresh) {
      response.status(304).end();
      return;
    }
    response.set({
      'content-type': 'application/octet-stream',
      'content-length': String(plan.contentLength),
      'content-disposition': `attachment; filename="${runId}.log"`,
    });
    if (request.method === 'HEAD') response.end();
    else await sendPaced(response, this.bytes(runId, plan), gone);
  }

  private async plan(runId: string, { request, response }: RestCall): Promise<OutputPlan> {
    const head = await this.outputs.head(runId);
    if (head === undefined) {
      throw new AppError('stream.not_found', 'The run is no command: it has no output.');
    }
    try {
      return planOutput(head, { range: request.get('range'), ifRange: request.get('if-range') });
    } catch (error) {
      if (error instanceof AppError && error.code === 'request.range_not_satisfiable') {
        response.setHeader('content-range', `bytes */${head.headOffset}`);
      }
      throw error;
    }
  }

  private async *bytes(runId: string, { stretches }: OutputPlan): AsyncGenerator<Uint8Array> {
    for (const stretch of stretches) yield* readStretch(this.outputs, runId, stretch);
  }
}
