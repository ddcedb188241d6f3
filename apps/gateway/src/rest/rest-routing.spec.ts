// The table of routes and the controllers that serve it are one.
import { REST_PREFIX, REST_ROUTE_NAMES, type RestRouteName, restRoute } from '#protocol';
import { methodsAt } from './rest-routing.js';
import { REST_CONTROLLERS } from './rest.providers.js';
import { ROUTE_NAME } from './route-name.js';

interface Served {
  method: string;
  /** Where Nest serves it; undefined for methods that are no routes. */
  path: string | undefined;
  name: RestRouteName | undefined;
  guarded: boolean;
}

/** Every method of every controller, by what Nest's decorators left on it. */
const served: Served[] = REST_CONTROLLERS.flatMap((controller) => {
  const methods = controller.prototype as Record<string, object>;
  return Object.getOwnPropertyNames(methods)
    .filter((name) => name !== 'constructor')
    .map((name) => {
      const read = (key: string | symbol): unknown => Reflect.getMetadata(key, methods[name] ?? {});
      return {
        method: `${controller.name}.${name}`,
        path: read('path') as string | undefined,
        name: read(ROUTE_NAME) as RestRouteName | undefined,
        guarded: read('__guards__') !== undefined,
      };
    });
});
const routes = served.filter(({ path }) => path !== undefined);

it('REST-3 serves each row of the table once, and nothing without one', () => {
  expect(routes.map(({ name }) => name).sort()).toEqual([...REST_ROUTE_NAMES].sort());
  for (const { name, path } of routes) {
    const row = name === undefined ? undefined : restRoute(name);
    expect(path).toBe(`${REST_PREFIX}${row?.path.replaceAll('{', ':').replaceAll('}', '') ?? ''}`);
  }
});

it('REST-3 lets nobody reach a route but through the guard', () => {
  expect(routes.filter(({ guarded }) => !guarded)).toEqual([]);
});

it.each([
  ['/projects', ['GET', 'POST', 'HEAD']],
  ['/projects/', ['GET', 'POST', 'HEAD']],
  ['/projects/x', ['GET', 'PATCH', 'DELETE', 'HEAD']],
  ['/projects/x/messages.jsonl', ['GET', 'HEAD']],
  ['/runs/x/cancel', ['POST']],
  ['/projects//runs', []],
  ['/runs', []],
  ['/', []],
])('REST-4 knows the methods of %s', (path, methods) => {
  expect(methodsAt(path)).toEqual(methods);
});
