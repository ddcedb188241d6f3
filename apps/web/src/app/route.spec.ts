// The route of the address.
import { formatRoute, parseRoute, type Route } from './route.js';

const ID = '0197f000-0000-7000-8000-000000000001';

describe('routes', () => {
  it.each<Route>([
    { projectId: undefined, tab: 'conversation' },
    { projectId: ID, tab: 'conversation' },
    { projectId: ID, tab: 'commands' },
  ])('WEB-20 come back as they went: %j', (route) => {
    expect(parseRoute(formatRoute(route))).toEqual(route);
  });

  it.each(['', '#', '#/projects/', '#/projects/../etc', `#/other/${ID}`, '#/projects/not-an-id'])(
    'WEB-20 take %j for the list',
    (hash) => {
      expect(parseRoute(hash).projectId).toBeUndefined();
    },
  );

  it('WEB-20 fall back to the conversation for an unknown view, and read ids in lower case', () => {
    expect(parseRoute(`#/projects/${ID.toUpperCase()}/elsewhere`)).toEqual({ projectId: ID, tab: 'conversation' });
  });
});
