// Where the HTTP routes are: the decorator that binds a controller's method to its row of the table, and who is told that a method is wrong.
import {
  applyDecorators,
  HttpCode,
  RequestMapping,
  RequestMethod,
  SetMetadata,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { REST_PREFIX, REST_ROUTE_NAMES, type RestRoute, type RestRouteName, restRoute } from '#protocol';
import { RestGuard } from './rest.guard.js';
import { RestInterceptor } from './rest.interceptor.js';
import { ROUTE_NAME } from './route-name.js';

const METHODS: Record<RestRoute['method'], RequestMethod> = {
  GET: RequestMethod.GET,
  POST: RequestMethod.POST,
  PATCH: RequestMethod.PATCH,
  DELETE: RequestMethod.DELETE,
};

/** Serves a route of the table, and nothing that is not in it. */
export function Route(name: RestRouteName): MethodDecorator {
  const { method, path, answer } = restRoute(name);
  return applyDecorators(
    RequestMapping({ method: METHODS[method], path: `${REST_PREFIX}${path.replaceAll(/\{(\w+)\}/g, ':$1')}` }),
    HttpCode(answer.status),
    SetMetadata(ROUTE_NAME, name),
    UseGuards(RestGuard),
    UseInterceptors(RestInterceptor),
  );
}

const isAt = (pattern: string, path: string): boolean => {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  return (
    wanted.length === given.length &&
    wanted.every((part, index) => (part.startsWith('{') ? given[index] !== '' : part === given[index]))
  );
};

/** The methods of an address below REST_PREFIX; none for an address that is not ours. GET includes HEAD. */
export function methodsAt(path: string): string[] {
  const plain = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  const methods = REST_ROUTE_NAMES.map(restRoute)
    .filter((route) => isAt(route.path, plain))
    .map(({ method }): string => method);
  return methods.includes('GET') ? [...methods, 'HEAD'] : methods;
}
