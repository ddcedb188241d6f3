// Who may import whom. Every rule has a file in test/fixtures/boundaries that breaks it, so that none can rot unnoticed
// (`node tools/checks/boundaries.ts` runs both).
import type { IConfiguration, IForbiddenRuleType } from 'dependency-cruiser';

/** Tests, wherever they lie: they may reach for fakes, builders and adapters. */
const TESTS = ['^test/', '\\.(contract-|int-|e2e-|fault-)?spec\\.tsx?$'];
const PACKAGE = 'node_modules/';

interface Allowance {
  libraries: readonly string[];
  /** Any npm package if absent. */
  packages?: readonly string[];
  /** Whether it may import Node's own modules; a library for the browser, or a pure one, may not. */
  builtins: boolean;
}

/** What each library may import besides itself. */
const LIBRARIES: Readonly<Record<string, Allowance>> = {
  kernel: { libraries: [], packages: [], builtins: false },
  protocol: { libraries: ['kernel'], packages: ['zod'], builtins: false },
  domain: { libraries: ['kernel'], packages: [], builtins: false },
  config: { libraries: ['kernel'], builtins: true },
  observability: { libraries: ['kernel'], builtins: true },
  jobs: { libraries: ['kernel', 'domain', 'config', 'observability'], builtins: true },
  persistence: { libraries: ['kernel', 'domain', 'config', 'observability'], builtins: true },
  sandbox: { libraries: ['kernel', 'domain', 'config', 'observability'], builtins: true },
};

const oneOf = (names: readonly string[]): string => `(${names.join('|')})`;

function libraryRule(name: string, { libraries, packages, builtins }: Allowance): IForbiddenRuleType {
  const allowed = [`^libs/${oneOf([name, ...libraries])}/`];
  if (packages === undefined) allowed.push(PACKAGE);
  else if (packages.length > 0) allowed.push(`${PACKAGE}${oneOf(packages)}/`);
  return {
    name: `${name}-imports`,
    comment: `libs/${name} may import ${[...libraries, ...(packages ?? ['npm packages'])].join(', ') || 'nothing'}${builtins ? ' and Node' : ''}.`,
    severity: 'error',
    from: { path: `^libs/${name}/`, pathNot: TESTS },
    to: { pathNot: allowed, ...(builtins ? { dependencyTypesNot: ['core'] } : {}) },
  };
}

/** A library's index, and the sub-paths that package.json declares beside it. */
const ENTRANCES = ['^libs/[^/]+/src/index\\.ts$', '^libs/sandbox/src/(docker|fake|wire)/index\\.ts$'];

/** The configuration of dependency-cruiser, for its command line too (see .dependency-cruiser.mjs). */
export const boundaries: IConfiguration & { forbidden: IForbiddenRuleType[] } = {
  forbidden: [
    ...Object.entries(LIBRARIES).map(([name, may]) => libraryRule(name, may)),
    {
      name: 'nothing-imports-apps',
      comment: 'Applications are the leaves; only tests start them.',
      severity: 'error',
      from: { path: '^(libs|tools|prisma)/', pathNot: TESTS },
      to: { path: '^apps/' },
    },
    {
      name: 'nothing-imports-tools',
      comment: 'Tools build and check the product; it does not know them.',
      severity: 'error',
      from: { path: '^(apps|libs)/', pathNot: TESTS },
      to: { path: '^tools/' },
    },
    {
      name: 'apps-import-no-app',
      comment: 'Processes share code through libraries and talk over Postgres, Redis and sockets.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'web-libraries',
      comment: 'What the browser loads is the wire and the kernel, nothing of the server.',
      severity: 'error',
      from: { path: '^apps/web/src/', pathNot: TESTS },
      to: { path: '^libs/', pathNot: '^libs/(protocol|kernel)/' },
    },
    {
      name: 'web-packages',
      comment: 'The browser gets these packages and nothing of Node.',
      severity: 'error',
      from: { path: '^apps/web/src/', pathNot: TESTS },
      to: { pathNot: ['^(apps|libs)/', `${PACKAGE}(@types/)?(react|react-dom|socket\\.io-client|zod|vite)/`] },
    },
    {
      name: 'sandboxd-imports',
      comment: 'The supervisor inside the sandbox is one small file: the wire, the kernel, Node.',
      severity: 'error',
      from: { path: '^apps/sandboxd/', pathNot: TESTS },
      to: { pathNot: ['^apps/sandboxd/', '^libs/(sandbox/src/wire|kernel)/'], dependencyTypesNot: ['core'] },
    },
    {
      name: 'docker-adapter-only-in-worker',
      comment: 'Only the worker has a Docker engine; tests clean up after it.',
      severity: 'error',
      from: { path: '^(apps|libs|tools)/', pathNot: ['^apps/worker/', '^libs/(sandbox|testing)/', ...TESTS] },
      to: { path: '^libs/sandbox/src/docker/' },
    },
    {
      name: 'dockerode-only-in-docker-adapter',
      severity: 'error',
      comment: 'The engine is spoken to in one place; tests look at it from the side.',
      from: { pathNot: ['^libs/sandbox/src/docker/', '^test/'] },
      to: { path: `${PACKAGE}(@types/)?dockerode/` },
    },
    {
      name: 'prisma-only-in-persistence',
      comment: 'Repositories are the only ones who know the database client.',
      severity: 'error',
      from: { pathNot: ['^libs/persistence/', '^prisma\\.config\\.ts$', '^tools/prisma/'] },
      to: { path: ['^libs/persistence/src/generated/', `${PACKAGE}(@prisma|prisma)/`] },
    },
    {
      name: 'testing-only-in-tests',
      comment: 'Builders, contract suites and the demo model are for tests, benchmarks and the demo entry.',
      severity: 'error',
      from: {
        pathNot: ['^libs/testing/', '(^|/)demo[-.a-z]*\\.ts$', '^tools/(bench|chaos)/', '^apps/web/dev/', ...TESTS],
      },
      to: { path: '^libs/testing/' },
    },
    {
      name: 'libraries-by-their-entrance',
      comment: 'Outside a library only its index (or a declared sub-path) is known.',
      severity: 'error',
      from: { path: '^(apps|tools|test|prisma)/' },
      to: { path: '^libs/', pathNot: ENTRANCES },
    },
    {
      name: 'libraries-by-each-others-entrance',
      comment: 'The same between libraries.',
      severity: 'error',
      from: { path: '^libs/([^/]+)/' },
      to: { path: '^libs/', pathNot: ['^libs/$1/', ...ENTRANCES] },
    },
    {
      name: 'libraries-by-their-alias',
      comment:
        '`#kernel`, not `../../libs/kernel/src/index.js`: the alias is what finds the sources in development and dist in production.',
      severity: 'error',
      from: { path: '^(apps|test)/' },
      to: { path: '^libs/', dependencyTypesNot: ['aliased-subpath-import'] },
    },
    {
      name: 'no-cycles',
      comment: 'Two files that need each other are one file, or miss a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'resolvable',
      comment: 'An import that finds nothing.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'declared-packages',
      comment: 'What is imported at run time stands in package.json, not only in the tree of another package.',
      severity: 'error',
      from: { path: '^(apps|libs|tools|test)/', pathNot: '^tools/prisma/' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-development-packages-in-products',
      comment: 'A production install has no devDependencies.',
      severity: 'error',
      from: { path: '^(apps|libs)/', pathNot: ['^libs/testing/', '^apps/web/', 'vite\\.config\\.ts$', ...TESTS] },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules', '^dist/', '^libs/persistence/src/generated/'] },
    exclude: { path: ['^test/fixtures/', '^apps/[^/]+/dist/'] },
    tsPreCompilationDeps: true,
    combinedDependencies: false,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['source', 'import', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types'],
    },
  },
};
