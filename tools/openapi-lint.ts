// Lints docs/openapi.json, or the file that it is given, by the strict rules of Redocly (https://redocly.com/docs/cli/rules/built-in-rules).
import { isAbsolute, join } from 'node:path';
import { createConfig, lint } from '@redocly/openapi-core';
import { checkout } from './ops/checkout.ts';

const config = await createConfig({
  extends: ['recommended-strict'],
  rules: {
    'operation-operationId': 'error',
    'operation-singular-tag': 'error',
    'no-unused-components': 'error',
    'tag-description': 'error',
  },
});
const file = process.argv[2] ?? join('docs', 'openapi.json');
const problems = await lint({ ref: isAbsolute(file) ? file : join(checkout, file), config });
for (const { ruleId, message, location } of problems) {
  console.error(`${file} ${location[0]?.pointer ?? ''} (${ruleId}) ${message}`);
}
console.log(`openapi: ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;
