import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

// `npm run test:soak` is vitest in mode `soak`: long races, which the usual run leaves out.
export default defineConfig(({ mode }) => {
  const include = mode === 'soak' ? ['**/*.soak.test.ts'] : ['**/*.test.ts']
  const soak = mode === 'soak' ? [] : ['**/*.soak.test.ts']
  const exclude = ['**/node_modules/**', '**/.cache/**', ...soak]
  const project = (name: string, root: string) => ({
    extends: true as const,
    test: { name, root, include, exclude },
  })
  return {
    test: {
      pool: 'forks',
      maxWorkers: 2,
      testTimeout: 30_000,
      hookTimeout: 60_000,
      globalSetup: [
        fileURLToPath(new URL('packages/testing/src/global-setup.ts', import.meta.url)),
      ],
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
  }
})
