// The description of the HTTP routes as a page for people: plain HTML without a script.
import type { OpenApiObject } from '#protocol';

interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  parameters?: { name: string; in: string; required?: boolean; description?: string }[];
  requestBody?: { content: Record<string, { schema: unknown }> };
  responses: Record<string, { description?: string; $ref?: string }>;
}

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
/** Markdown's `code`, and nothing else of it. */
const prose = (text: string): string => escape(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;background:#fff}' +
  'h3{margin:2rem 0 .25rem}code,pre{font:14px/1.45 ui-monospace,monospace;background:#f0f2f4;border-radius:4px}' +
  'code{padding:.1em .3em}pre{padding:.75rem;overflow:auto}.method{color:#0b57d0}' +
  '@media (prefers-color-scheme:dark){body{color:#e6e8ea;background:#15181b}code,pre{background:#24292e}.method{color:#8ab4f8}a{color:#8ab4f8}}';

/** The whole page. */
export function docsPage(document: OpenApiObject): string {
  const { info, servers, tags, paths } = document as {
    info: { title: string; version: string; description: string };
    servers: { url: string }[];
    tags: { name: string; description: string }[];
    paths: Record<string, Record<string, Operation>>;
  };
  const prefix = servers[0]?.url ?? '';
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path: `${prefix}${path}`, operation })),
  );
  const sections = tags.map(({ name, description }) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(name));
    return `<h2>${escape(name)}</h2><p>${prose(description)}</p>${own.map(articleOf).join('')}`;
  });
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
    `<title>${escape(info.title)} HTTP API</title><style>${STYLE}</style></head><body>`,
    `<h1>${escape(info.title)} HTTP API <small>${escape(info.version)}</small></h1><p>${prose(info.description)}</p>`,
    `<p>For programs: <a href="${prefix}/openapi.json">openapi.json</a></p>`,
    ...sections,
    '</body></html>\n',
  ].join('');
}

function articleOf({ method, path, operation }: { method: string; path: string; operation: Operation }): string {
  const parameters = (operation.parameters ?? []).map(
    ({ name, in: place, required, description }) =>
      `<li><code>${escape(name)}</code> (${place}${required === true ? '' : ', optional'})${description === undefined ? '' : `: ${prose(description)}`}</li>`,
  );
  const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
  const statuses = Object.keys(operation.responses).filter((status) => status !== 'default');
  return [
    `<h3 id="${escape(operation.operationId)}"><code><span class="method">${method.toUpperCase()}</span> ${escape(path)}</code></h3>`,
    `<p>${prose(operation.summary)} ${prose(operation.description)}</p>`,
    parameters.length === 0 ? '' : `<ul>${parameters.join('')}</ul>`,
    body === undefined
      ? ''
      : `<details><summary>Body (JSON Schema)</summary><pre>${escape(JSON.stringify(body, null, 2))}</pre></details>`,
    `<p>Answers: ${statuses.map((status) => `<code>${status}</code>`).join(' ')}</p>`,
  ].join('');
}
