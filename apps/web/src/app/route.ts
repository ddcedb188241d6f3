// Where the page is, as the address says it: `#/projects/<id>` with a tab. Reloading the address returns there.

export const TABS = ['conversation', 'commands'] as const;
export type Tab = (typeof TABS)[number];

export interface Route {
  readonly projectId: string | undefined;
  readonly tab: Tab;
}

const PATTERN = /^#\/projects\/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:\/([a-z]+))?\/?$/;

/** The route of an address' fragment; anything unknown is the list of projects. */
export function parseRoute(hash: string): Route {
  const match = PATTERN.exec(hash.toLowerCase());
  const tab = TABS.find((name) => name === match?.[2]) ?? 'conversation';
  return { projectId: match?.[1], tab };
}

export function formatRoute({ projectId, tab }: Route): string {
  if (projectId === undefined) return '#/';
  return tab === 'conversation' ? `#/projects/${projectId}` : `#/projects/${projectId}/${tab}`;
}
