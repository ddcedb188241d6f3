// Lints docs/openapi.json by the rules of Redocly (https://redocly.com/docs/cli/rules/built-in-rules), the strict set: a warning is an error.
import { join } from 'node:path';
import { createConfig, lint } from '@redocly/openapi-core';
import { checkout } from './ops/checkout.ts';

const file = join('docs', 'openapi.json');
const config = await createConfig({
  extends: ['recommended-strict'],
  rules: {
    'operation-operationId': 'error',
    'operation-singular-tag': 'error',
    'no-unused-components': 'error',
    'no-invalid-media-type-examples': 'error',
    'tag-description': 'error',
    // A gateway serves the document of itself: the address is relative.
    'no-server-example.com': 'off',
  },
});
const problems = await lint({ ref: join(checkout, file), config });
for (const { ruleId, message, location, severity } of problems) {
  console.error(`${file} ${location[0]?.pointer ?? ''} (${ruleId}, ${severity}) ${message}`);
}
console.log(`openapi: ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;
