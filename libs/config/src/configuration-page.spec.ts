// The generated page against the catalogue.
import { renderConfigurationPage } from './configuration-page.js';
import { OPTIONS } from './options.js';

it('CFG-6 says how to set one, and lists every option once, with default, unit and readers', () => {
  const lines = renderConfigurationPage().split('\n');
  for (const [name, option] of Object.entries(OPTIONS)) {
    const rows = lines.filter((line) => line.startsWith(`| \`${name}\` |`));
    expect(rows).toHaveLength(1);
    expect(rows[0]).toContain(option.readBy.join(', '));
    expect(rows[0]?.split(' | ')).toHaveLength(4);
  }
  expect(lines).toContain('GATEWAY_PORT=7555 GANTRY_MAX_CONCURRENT_RUNS=8 make restart'); // two that exist
  expect(Object.keys(OPTIONS)).toEqual(expect.arrayContaining(['GATEWAY_PORT', 'GANTRY_MAX_CONCURRENT_RUNS']));
  expect(lines.find((line) => line.includes('`GANTRY_LEASE_MS`'))).toContain('`3000` ms');
  expect(lines.find((line) => line.includes('`ANTHROPIC_API_KEY`'))).toContain('**Secret.**');
});
