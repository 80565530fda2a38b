import { defineConfig } from 'vitest/config'

const project = (name: string, root: string) => ({
  extends: true as const,
  test: { name, root, include: ['**/*.test.ts'], exclude: ['**/node_modules/**', '**/*.soak.test.ts', '**/.cache/**'] },
})

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    globalSetup: ['packages/testing/src/global-setup.ts'],
    projects: [
      project('iceberg', 'packages/iceberg'),
      project('timelake', 'packages/timelake'),
      project('storage', 'packages/storage'),
      project('database', 'packages/database'),
      project('catalog', 'apps/catalog'),
      project('worker', 'apps/worker'),
      project('cli', 'apps/cli'),
      project('openapi', 'openapi'),
      project('tools', 'tools'),
    ],
  },
})
