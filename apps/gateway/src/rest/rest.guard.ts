// Who may use a route: allowed page, valid token, not too many at once, and the role that the route's events take, decided where the
// socket's events are decided.
import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { z } from 'zod';
import type { TokenStore, UserRecord } from '#domain';
import { AppError } from '#kernel';
import { id, pathParametersOf, type RestRoute, type RestRouteName, restRoute } from '#protocol';
import { PORT } from '../ports.js';
import { AccessPolicy, type Grant } from '../transport/access.js';
import { isOriginAllowed } from '../transport/origin.js';
import { parsePayload } from '../transport/payload.js';
import { challengeOf, userOf } from './bearer-token.js';
import { parseQuery } from './query-values.js';
import { factsOf, type RestCall } from './rest-call.js';
import { contextOf } from './rest-connection.js';
import { REST_SETTINGS, type RestSettings } from './rest-settings.js';
import { RestTraffic } from './rest-traffic.js';
import { ROUTE_NAME } from './route-name.js';

const NO_QUERY = z.strictObject({});
const NOBODY: UserRecord = { userId: '', name: '', isAdmin: false };

@Injectable()
export class RestGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly access: AccessPolicy,
    private readonly traffic: RestTraffic,
    @Inject(PORT.tokens) private readonly tokens: TokenStore,
    @Inject(REST_SETTINGS) private readonly settings: RestSettings,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const [request, response] = [http.getRequest<Request>(), http.getResponse<Response>()];
    const name = this.reflector.get<RestRouteName>(ROUTE_NAME, context.getHandler());
    const route = restRoute(name);
    this.checkOrigin(request);
    const user = route.events.length === 0 ? NOBODY : await this.signIn(request, response);
    const params = paramsOf(route, request);
    const query = parseQuery(route.query ?? NO_QUERY, request.query) as RestCall['query'];
    const grant = await this.authorize(route, params, user);
    const correlationId = factsOf(response).correlationId ?? '';
    factsOf(response).call = {
      name,
      route,
      request,
      response,
      gone: this.traffic.signalOf(response),
      context: { ...contextOf(user, correlationId, (action) => response.once('finish', action)), ...grant },
      params,
      query,
      body: {},
    };
    return true;
  }

  /** As for sockets (GW-3): pages of other origins are kept out whatever token they have. */
  private checkOrigin({ headers: { origin, host } }: Request): void {
    if (isOriginAllowed({ origin, host }, this.settings.origins)) return;
    throw new AppError('auth.origin_refused', 'Pages of this origin may not ask.');
  }

  private async signIn(request: Request, response: Response): Promise<UserRecord> {
    try {
      const user = await userOf(request.headers, this.tokens);
      this.traffic.count(user.userId, response);
      return user;
    } catch (error) {
      if (error instanceof AppError && error.kind === 'unauthenticated') {
        response.setHeader('www-authenticate', challengeOf(error));
      }
      throw error;
    }
  }

  /** What the last of the route's events gives that are about a project. */
  private async authorize(route: RestRoute, params: object, user: UserRecord): Promise<Partial<Grant>> {
    let grant: Partial<Grant> = {};
    for (const event of route.events) grant = (await this.access.authorize(event, params, user)) ?? grant;
    return grant;
  }
}

/** The ids in the address. Throws `request.invalid_payload` for what is no id. */
function paramsOf(route: RestRoute, request: Request): Record<string, string> {
  const names = pathParametersOf(route);
  return parsePayload(z.strictObject(Object.fromEntries(names.map((name) => [name, id]))), { ...request.params });
}
