// docs/configuration.md, made from the catalogue, so that it cannot differ from the code (CFG-6).
import type { Option } from './option.js';
import { OPTION_SECTIONS } from './options.js';

const INTRODUCTION = `# Configuration

Generated from libs/config by \`npm run docs\`; do not edit.

Every option is an environment variable. Each program parses its own once, at start, and reports all problems together; values are
never printed. An empty variable counts as unset. A variable that starts with \`GANTRY_\` and is not listed here is refused.
Secret options are given only to the programs named beside them. \`make\` is the command line behind the Makefile.

## How to set an option

Give it to \`make up\`, or to \`make restart\` while Gantry runs. Both start those services anew whose options changed; \`make restart\`
also renews the rest. Agents in their sandboxes go on.

\`\`\`sh
GATEWAY_PORT=7555 GANTRY_MAX_CONCURRENT_RUNS=8 make restart
\`\`\`

Options are not remembered: the next start without one takes its default again. Keep those that shall stay in a file of your own, outside
the checkout if it holds a secret (\`chmod 600\`), and load it before each start:

\`\`\`sh
set -a; . /etc/gantry.env; set +a; make restart        # GATEWAY_PORT=7555 and so on, one per line
\`\`\`

Only this is remembered: whether answers come with a key or from the demo model. A start without the key does not switch to the demo model:
it leaves running services as they are, or is refused. \`GANTRY_DEMO_MODEL=1 make up\` switches.

With docker-compose.yml an option goes into \`.env\` beside it, if the file passes it on, else under \`environment\` of the service that reads
it; then \`docker compose up --detach\`.
`;

const code = (text: string): string => `\`${text}\``;
/** In a table's cell: a bar would end it. */
const cell = (text: string): string => text.replaceAll('|', '\\|');

function defaultOf(option: Option): string {
  if (option.presence === 'required') return 'required by the services';
  if (option.presence === 'optional') return option.absentText;
  return code(option.fallbackText) + (option.unit ? ` ${option.unit}` : '');
}

function rowOf(name: string, option: Option): string {
  const marks = option.secret ? ' **Secret.**' : '';
  const unit = option.unit && option.presence !== 'fallback' ? ` In ${option.unit}.` : '';
  const cells = [code(name), option.description + unit + marks, defaultOf(option), option.readBy.join(', ')];
  return `| ${cells.map(cell).join(' | ')} |`;
}

/** The whole page, Markdown. */
export function renderConfigurationPage(): string {
  const sections = OPTION_SECTIONS.map(({ title, options }) => {
    const rows = Object.entries<Option>(options).map(([name, option]) => rowOf(name, option));
    return [`## ${title}\n`, '| option | meaning | default | read by |', '|---|---|---|---|', ...rows, ''].join('\n');
  });
  return [INTRODUCTION, ...sections].join('\n');
}
