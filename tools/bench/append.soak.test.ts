import { expect, it } from 'vitest'
import { runAppendSoak, type SoakWindow } from './append-soak.ts'
import { openPlace } from './contention-places.ts'

const MINUTE_MS = 60_000
const MINUTES = 30
const RATE_PER_SECOND = 20
const START_AND_END_MS = 5 * MINUTE_MS

// Wide, because other work of the machine counts too; what grows with the table passes them within half an hour.
const SLOWER_MAX = 3
const SLOWER_MS_MAX = 50
const METADATA_GROWTH_MAX = 1.5
const METADATA_FILES_MAX = 40
const MANIFESTS_MAX = 300

it(
  'appends for half an hour at 20 a second, with flat latency and bounded metadata',
  async () => {
    const place = await openPlace('embedded')
    try {
      const report = await runAppendSoak(place, {
        ratePerSecond: RATE_PER_SECOND,
        durationMs: MINUTES * MINUTE_MS,
        windowMs: MINUTE_MS,
      })
      expect(report.faults).toEqual([])
      expect(report.windows.map(({ failedCount }) => failedCount)).toEqual(Array(MINUTES).fill(0))
      const landedCount = report.windows.reduce((sum, window) => sum + window.landedCount, 0)
      expect(landedCount).toBe(MINUTES * 60 * RATE_PER_SECOND)
      expect(report.metadataFileCount).toBeLessThan(METADATA_FILES_MAX)
      expect(report.manifestCount).toBeLessThan(MANIFESTS_MAX)
      // The first minute has a cold start in it.
      const early = report.windows.slice(1, 6)
      const late = report.windows.slice(-5)
      for (const read of [(w: SoakWindow) => w.p50Ms, (w: SoakWindow) => w.p99Ms]) {
        expect(middle(late, read)).toBeLessThan(middle(early, read) * SLOWER_MAX + SLOWER_MS_MAX)
      }
      const size = (window: SoakWindow) => window.metadataBytes
      expect(middle(late, size)).toBeLessThan(middle(early, size) * METADATA_GROWTH_MAX)
    } finally {
      await place.close()
    }
  },
  MINUTES * MINUTE_MS + START_AND_END_MS,
)

function middle(windows: readonly SoakWindow[], read: (window: SoakWindow) => number): number {
  const sorted = windows.map(read).sort((left, right) => left - right)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
