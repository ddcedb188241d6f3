// Typed lint: a promise nobody awaits, a switch that forgets a case and an `any` that leaks are build failures here.
// Formatting is Prettier's alone; directions of imports are dependency-cruiser's.
import tseslint from 'typescript-eslint';

const TESTS = ['**/*.spec.ts', '**/*.spec.tsx', '**/*-spec.ts', '**/*.contract.ts', 'test/**/*.ts'];

/** One program per part, so that a part which does not compile yet breaks only its own lint. */
const typed = (project, files, ignores = []) => ({
  files,
  ignores,
  languageOptions: { parserOptions: { project: [project], tsconfigRootDir: import.meta.dirname } },
});

/** The facts of a log line: of a logger's methods, of `logError`, and of sandboxd's `log`. */
const LOG_FACTS = [
  'CallExpression[callee.property.name=/^(trace|debug|info|warn|error|fatal|child)$/][callee.object.name=/logger$/i]',
  'CallExpression[callee.property.name=/^(trace|debug|info|warn|error|fatal|child)$/][callee.object.property.name=/logger$/i]',
  'CallExpression[callee.name=/^(log|logError)$/]',
  'CallExpression[callee.property.name=/^(log|logError)$/]',
];
const SNAKE_CASE_FACTS = LOG_FACTS.map((call) => ({
  selector: `${call} > ObjectExpression > Property > Identifier.key[name=/[A-Z]/]`,
  message: 'Fields of log lines are snake_case (OBS-20).',
}));

export default tseslint.config(
  {
    ignores: [
      'node_modules',
      'dist',
      'data',
      'data-*',
      'coverage',
      'libs/persistence/src/generated',
      'test/fixtures',
      '**/*.js',
      '**/*.mjs',
    ],
  },
  ...tseslint.configs.strictTypeChecked,
  typed('./tsconfig.json', ['**/*.ts'], ['apps/web/**', 'tools/**']),
  typed('./apps/web/tsconfig.json', ['apps/web/**/*.ts', 'apps/web/**/*.tsx']),
  typed('./tools/tsconfig.json', ['tools/**/*.ts']),
  {
    files: ['**/*.ts', '**/*.tsx'],
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { attributes: false } }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: false },
      ],
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      '@typescript-eslint/prefer-readonly': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // `async` without `await` is how a port's method says that it may fail later; `return call()` of nothing reads well.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allow: ['URL', 'URLSearchParams'] },
      ],
      // Code points are what the terminal and the redactor count in.
      '@typescript-eslint/no-misused-spread': ['error', { allow: ['string'] }],
      // Nest's modules are classes without members.
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      'no-console': 'error',
      'no-restricted-syntax': ['error', ...SNAKE_CASE_FACTS],
      'no-empty': ['error', { allowEmptyCatch: false }],
      eqeqeq: 'error',
      'max-lines': ['error', { max: 400, skipBlankLines: false, skipComments: false }],
      'max-lines-per-function': ['error', { max: 90, skipBlankLines: true, skipComments: true }],
      'max-depth': ['error', 4],
      'max-params': ['error', 5],
      complexity: ['error', 18],
    },
  },
  {
    // Nest finds a constructor's collaborators through the types it emits, so those imports must stay values.
    files: ['apps/gateway/**/*.ts', 'apps/worker/**/*.ts'],
    rules: { '@typescript-eslint/consistent-type-imports': 'off' },
  },
  {
    // A describe block is a list, not a function that must fit on a screen.
    files: TESTS,
    rules: {
      'max-lines-per-function': 'off',
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  {
    // Tools run on Node's type stripping: only syntax that can be erased. (Not a compiler option: libraries that they import are compiled.)
    files: ['tools/**/*.ts'],
    rules: {
      'no-console': 'off',
      'no-restricted-syntax': ['error', 'TSParameterProperty', 'TSEnumDeclaration', 'TSImportEqualsDeclaration'],
    },
  },
);
