// HTTP routes about the service itself: its state, and the description of all routes.
import { Controller, Inject, Res } from '@nestjs/common';
import type { Response } from 'express';
import { type ClientData, type OpenApiObject, openApiDocument } from '#protocol';
import { type FeatureSettings, SETTINGS } from '../ports.js';
import { docsPage } from './docs-page.js';
import { Call, type RestCall } from './rest-call.js';
import { Route } from './rest-routing.js';
import { UseCases } from './use-cases.js';

@Controller()
export class ServiceController {
  private readonly document: OpenApiObject;
  private readonly page: string;

  constructor(
    private readonly useCases: UseCases,
    @Inject(SETTINGS) { version }: FeatureSettings,
  ) {
    this.document = openApiDocument(version);
    this.page = docsPage(this.document);
  }

  @Route('getHealth')
  health(@Call() call: RestCall): Promise<ClientData<'health'>> {
    return this.useCases.answer('health', call);
  }

  @Route('getOpenApi')
  describe(): OpenApiObject {
    return this.document;
  }

  @Route('getDocs')
  docs(@Res() response: Response): void {
    // Nothing but its own styles: no script could run in it.
    response.setHeader(
      'content-security-policy',
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    );
    response.type('text/html; charset=utf-8').send(this.page);
  }
}
