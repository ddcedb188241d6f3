// Reads the body of an admitted request, and answers with `service.timeout` what takes too long.
import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { type Observable, throwError, timeout } from 'rxjs';
import { AppError } from '#kernel';
import { parsePayload } from '../transport/payload.js';
import { readJson } from './json-body.js';
import { callOf, type RestCall } from './rest-call.js';
import { REST_SETTINGS, type RestSettings } from './rest-settings.js';

@Injectable()
export class RestInterceptor implements NestInterceptor {
  constructor(@Inject(REST_SETTINGS) private readonly settings: RestSettings) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const call = callOf(context.switchToHttp().getResponse<Response>());
    const { body } = call.route;
    if (body !== undefined) {
      call.body = parsePayload(body, (await readJson(call.request, this.settings.maxBodyBytes)) ?? {});
    }
    if (isStream(call)) return next.handle();
    return next.handle().pipe(
      timeout({
        first: this.settings.requestDeadlineMs + waitOf(call),
        with: () => throwError(() => new AppError('service.timeout', 'The request took too long.')),
      }),
    );
  }
}

/** Streams end with their last byte, however long their reader takes. */
const isStream = ({ route }: RestCall): boolean => route.answer.mediaType !== undefined;

const waitOf = ({ query }: RestCall): number => ('wait' in query ? (query.wait ?? 0) : 0);
