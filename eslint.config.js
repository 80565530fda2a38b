import tseslint from 'typescript-eslint'

// Only rules that find mistakes or hold a house rule; layout belongs to Prettier, unused names to tsc,
// and sizes, imports and purity to tools/tidy.test.ts.
const mistakes = {
  '@typescript-eslint/await-thenable': 'error',
  '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
  '@typescript-eslint/no-explicit-any': 'error',
  '@typescript-eslint/no-floating-promises': 'error',
  '@typescript-eslint/no-for-in-array': 'error',
  '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { attributes: false } }],
  '@typescript-eslint/no-non-null-assertion': 'error',
  '@typescript-eslint/no-unnecessary-type-assertion': 'error',
  '@typescript-eslint/only-throw-error': 'error',
  '@typescript-eslint/restrict-plus-operands': 'error',
  '@typescript-eslint/switch-exhaustiveness-check': [
    'error',
    { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: true },
  ],
  eqeqeq: ['error', 'always'],
  'max-depth': ['error', 3],
  'no-async-promise-executor': 'error',
  'no-constant-condition': ['error', { checkLoops: false }],
  'no-dupe-keys': 'error',
  'no-empty': 'error',
  'no-fallthrough': 'error',
  'no-implicit-coercion': ['error', { boolean: false }],
  'no-loss-of-precision': 'error',
  'no-self-assign': 'error',
  'no-shadow-restricted-names': 'error',
  'no-sparse-arrays': 'error',
  'no-unreachable': 'error',
  'no-unsafe-finally': 'error',
  'no-var': 'error',
  'object-shorthand': 'error',
  'prefer-const': 'error',
  'require-atomic-updates': 'off',
  'valid-typeof': 'error',
}

export default tseslint.config(
  {
    ignores: [
      '**/node_modules/**',
      '**/.cache/**',
      'data/**',
      '**/*.generated.ts',
      '**/*.js',
      '**/*.mjs',
    ],
  },
  {
    files: ['apps/**/*.ts', 'packages/**/*.ts', 'tools/**/*.ts', 'openapi/**/*.ts', '*.ts'],
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname },
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: mistakes,
  },
  {
    files: ['**/*.test.ts'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off', 'max-depth': 'off' },
  },
)
