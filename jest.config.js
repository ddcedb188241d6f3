// Jest in CommonJS mode: our TypeScript and the ES-module-only packages are turned into CommonJS by swc (cached on disk).
// Measured at 2.5x the speed of Jest's native ES modules, and it runs on every supported Node.
const swc = (parser, transform = {}) => ({
  jsc: {
    target: 'es2023',
    keepClassNames: true,
    parser,
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false, ...transform },
  },
  module: { type: 'commonjs' },
  sourceMaps: 'inline',
  swcrc: false,
});
const esmOnly = ['@nestjs', '@anthropic-ai', 'https-proxy-agent', 'proxy-agent-negotiate', 'agent-base'];
/** `timeoutMs` is what one test may take: a hang is a failure, a busy machine is not. */
const project = (displayName, match, roots, timeoutMs) => ({
  displayName,
  globals: { TEST_TIMEOUT_MS: timeoutMs },
  setupFilesAfterEnv: ['<rootDir>/tools/stages/jest-timeout.ts'],
  testMatch: match,
  roots,
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/fixtures/'],
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['source', 'node', 'node-addons'] },
  transform: {
    '^.+\\.ts$': ['@swc/jest', swc({ syntax: 'typescript', decorators: true })],
    '^.+\\.tsx$': ['@swc/jest', swc({ syntax: 'typescript', tsx: true }, { react: { runtime: 'automatic' } })],
    [`/node_modules/(${esmOnly.join('|')})/.+\\.m?js$`]: ['@swc/jest', swc({ syntax: 'ecmascript' })],
  },
  transformIgnorePatterns: [`/node_modules/(?!(${esmOnly.join('|')})/)`],
  moduleNameMapper: { '^(@prisma/client/runtime/.*)\\.mjs$': '$1.js', '^(\\.{1,2}/.*)\\.js$': '$1' },
  moduleFileExtensions: ['ts', 'tsx', 'js', 'mjs', 'cjs', 'json', 'node'],
  setupFiles: ['reflect-metadata'],
});
const code = ['<rootDir>/apps', '<rootDir>/libs', '<rootDir>/tools'];
/** @type {import('jest').Config} */
export default {
  projects: [
    project('unit', ['**/*.spec.ts', '**/*.spec.tsx'], code, 10_000),
    project('contract', ['**/*.contract-spec.ts'], [...code, '<rootDir>/test'], 30_000),
    project('integration', ['**/*.int-spec.ts'], [...code, '<rootDir>/test'], 30_000),
    project('e2e', ['**/*.e2e-spec.ts'], ['<rootDir>/test'], 60_000),
    project('faults', ['**/*.fault-spec.ts'], ['<rootDir>/tools', '<rootDir>/test'], 120_000),
  ],
};
