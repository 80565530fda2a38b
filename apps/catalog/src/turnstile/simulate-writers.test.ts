import { describe, expect, it } from 'vitest'
import { defaultCatalogConfig } from '../catalog-config.ts'
import { simulateWriters, type ClientKind, type SimulatedRun } from './simulate-writers.ts'

const APPENDS = 20
const READERS = { count: 5, everyMs: 50 }

const STRICT = { loads: 'always', loadsAfterSuccess: false, loadsBeforeCommit: 1 } as const

/** As they were seen on the wire. */
const KINDS = {
  pyiceberg: { ...STRICT, connections: 'own', loads: 'after-loss', retryCount: 4 },
  duckdb: {
    ...STRICT,
    connections: 'fresh-commits',
    userAgent: 'duckdb/v1.5.5(linux_amd64)',
    buildsOn: 'start',
    closesAfterMs: 10,
    retryCount: 0,
  },
  java: { ...STRICT, connections: 'own', loadsAfterSuccess: true, retryCount: 4 },
  spark: {
    ...STRICT,
    connections: 'own',
    loadsAfterSuccess: true,
    loadsBeforeCommit: 2,
    retryCount: 4,
  },
  'threads of one Java process': {
    ...STRICT,
    connections: 'last-used',
    loadsAfterSuccess: true,
    retryCount: 4,
  },
  'a pool behind a proxy': { ...STRICT, connections: 'first-idle', retryCount: 4 },
  'a connection for each request': { ...STRICT, connections: 'fresh', retryCount: 4 },
} satisfies Record<string, ClientKind>

/** A linear congruential generator: the same seed gives the same run. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

function run(kind: ClientKind, more: Partial<SimulatedRun> = {}) {
  return simulateWriters({
    kind,
    writerCount: 8,
    appendCount: APPENDS,
    thinkMs: 5,
    tripMs: 1,
    commitMs: 4,
    rules: defaultCatalogConfig.turns,
    random: seeded(1),
    readers: { count: 0, everyMs: 50 },
    ...more,
  })
}

const RETRYING = ['pyiceberg', 'java', 'spark'] as const

describe.each(RETRYING)('writers that retry: %s', (name) => {
  it.each([2, 4, 8, 16, 64])('all succeed, %i of them', (writerCount) => {
    const seeds = writerCount < 16 ? 5 : 1
    for (const thinkMs of [5, 25, 100]) {
      for (let seed = 1; seed <= seeds; seed += 1) {
        const result = run(KINDS[name], { writerCount, thinkMs, random: seeded(seed * 7_919) })
        expect(result, `think ${thinkMs}, seed ${seed}`).toMatchObject({ failed: 0 })
      }
    }
  })
})

// PyIceberg copies the whole history many times for each append: with a thousand snapshots that takes longer than a second.
it.each(RETRYING)('64 slow writers that retry all succeed: %s', (name) => {
  for (const thinkMs of [300, 1_000, 2_500]) {
    const result = run(KINDS[name], { writerCount: 64, appendCount: 3, thinkMs })
    expect(result, `think ${thinkMs}`).toMatchObject({ failed: 0, landed: 64 * 3 })
  }
})

it('lets who keeps its table go on, so that most of its commits do not lose', () => {
  const { landed, lost } = run(KINDS.pyiceberg, { writerCount: 16, thinkMs: 100 })
  expect(landed).toBe(16 * APPENDS)
  expect(lost).toBeLessThan(landed / 2)
})

it('gives few turns to those who keep their table and pause after each append', () => {
  const [writerCount, appendCount, thinkMs] = [16, 8, 300]
  const pauseMs = 1.5 * writerCount * thinkMs
  const result = run(KINDS.pyiceberg, { writerCount, appendCount, thinkMs, pauseMs })
  expect(result).toMatchObject({ failed: 0, landed: writerCount * appendCount })
  expect(result.holdsExpired).toBeLessThan(8)
  expect(result.tookMs).toBeLessThan(1.6 * appendCount * (pauseMs + thinkMs))
})

it.each([3, 8, 64])('%i DuckDB writers fail in nothing but the first append of each', (count) => {
  for (let seed = 1; seed <= 5; seed += 1) {
    const { failedLater } = run(KINDS.duckdb, { writerCount: count, random: seeded(seed) })
    expect(failedLater).toBe(0)
  }
})

it.each([
  'threads of one Java process',
  'a pool behind a proxy',
  'a connection for each request',
] as const)('turns are taken by %s, which tells callers apart by nothing', (name) => {
  const { landed, lost } = run(KINDS[name], { writerCount: 64 })
  expect(landed).toBe(64 * APPENDS)
  expect(lost).toBeLessThan(64 * 2)
})

it('keeps a table at the pace of one writer, however many there are', () => {
  const paceOf = (writerCount: number): number => {
    const { landed, tookMs } = run(KINDS.java, { writerCount })
    return landed / tookMs
  }
  expect(paceOf(64)).toBeGreaterThan(0.9 * paceOf(1))
})

it('lets callers with connections of their own read without a wait', () => {
  for (const name of ['pyiceberg', 'java', 'spark'] as const) {
    const { readerWaits, readerLoads } = run(KINDS[name], { writerCount: 64, readers: READERS })
    expect(readerLoads).toBeGreaterThan(100)
    expect(readerWaits).toBe(0)
  }
})

it('makes a DuckDB that reads wait only for the first load of its connection', () => {
  const { readerWaits, readerLoads } = run(KINDS.duckdb, { writerCount: 64, readers: READERS })
  expect(readerLoads).toBeGreaterThan(100)
  expect(readerWaits).toBeLessThanOrEqual(READERS.count)
})

it('makes few readers wait whom nothing tells from writers', () => {
  const kind = KINDS['a pool behind a proxy']
  const { landed, readerWaits, readerLoads } = run(kind, { writerCount: 64, readers: READERS })
  expect(landed).toBeGreaterThanOrEqual(64 * APPENDS - 1)
  expect(readerWaits / readerLoads).toBeLessThan(0.05)
})
