/**
 * Appends to one table at a steady rate for a long time, half by intent, half rebased; the table's history is bounded.
 *
 *   npx tsx tools/bench/soak.ts [--minutes 30] [--rate 20] [--on embedded]
 *
 * Prints a Markdown table with a line for each minute. Exit status 1 when an append failed, is not live exactly once or
 * the table holds something else. `npm run test:soak` runs the same and also looks at how flat the figures are.
 */
import { parseArgs } from 'node:util'
import { runAppendSoak } from './append-soak.ts'
import { openPlace, PLACES } from './contention-places.ts'
import { printTable } from './measure.ts'

const MINUTE_MS = 60_000

const { values: flags } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    rate: { type: 'string', default: '20' },
    on: { type: 'string', default: 'embedded' },
  },
})
const name = PLACES.find((one) => one === flags.on)
if (name === undefined) throw new Error(`expected one of ${PLACES.join(', ')}, found ${flags.on}`)
const place = await openPlace(name)
try {
  const report = await runAppendSoak(place, {
    ratePerSecond: Number(flags.rate),
    durationMs: Number(flags.minutes) * MINUTE_MS,
    windowMs: MINUTE_MS,
  })
  const rows = report.windows.map((window, index) => [
    String(index + 1),
    String(window.landedCount),
    String(window.failedCount),
    window.p50Ms.toFixed(1),
    window.p99Ms.toFixed(1),
    String(window.metadataBytes),
  ])
  const header = ['minute', 'landed', 'failed', 'p50 ms', 'p99 ms', 'bytes of a load']
  process.stdout.write(`${printTable(header, rows)}\n`)
  const { metadataFileCount, manifestCount, faults } = report
  process.stdout.write(`${metadataFileCount} metadata files, ${manifestCount} manifests listed\n`)
  for (const fault of faults) process.stdout.write(`WRONG ${fault}\n`)
  const isSound = faults.length === 0 && report.windows.every((window) => window.failedCount === 0)
  process.exitCode = isSound ? 0 : 1
} finally {
  await place.close()
}
