import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const JUDGE_MS_MAX = 3_600_000
const ENGINES = ['pyiceberg', 'duckdb', 'spark']

// What `npm run test:interop` runs with few writers and appends, whole.
it.each(ENGINES.flatMap((engine) => [`contention-${engine}`, `contention-${engine}-services`]))(
  '%s at full size',
  (judge) => {
    const script = fileURLToPath(new URL('../run.sh', import.meta.url))
    const ended = spawnSync('bash', [script, '--full', '--only', judge], { encoding: 'utf8' })
    expect(ended.stdout).toMatch(/\n[1-9]\d* passed, 0 failed, \d+ skipped\n$/)
    expect(ended.status).toBe(0)
  },
  JUDGE_MS_MAX,
)
