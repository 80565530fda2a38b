import { mergingStore } from '@timelake/testing/simulation/merging-store'
import { modelStatements } from '@timelake/testing/simulation/model-statements'
import { runSchedule, type ScheduleOptions } from '@timelake/testing/simulation/run-schedule'
import { expect, it } from 'vitest'
import { startSimulatedProcess } from './start-simulated-process.ts'

// What a simulation is worth shows on mistakes that are known.

/** Schedules within which a mistake must show. */
const SCHEDULES_MAX = 1_500
const TEST_TIMEOUT_MS = 300_000

interface Mutant {
  readonly comparesLocation: boolean
  readonly options: Omit<ScheduleOptions, 'statements' | 'startProcess'>
}

/** The first schedule in which this goes wrong. */
async function findProblem({ comparesLocation, options }: Mutant, problem: RegExp) {
  const statements = await modelStatements({ comparesLocation })
  for (let seed = 1; seed <= SCHEDULES_MAX; seed += 1) {
    const report = await runSchedule(seed, {
      ...options,
      statements,
      startProcess: startSimulatedProcess,
    })
    if (report.problems.some((one) => problem.test(one))) return report
  }
  return undefined
}

it.each<[string, Mutant, RegExp]>([
  [
    'a swap that does not compare the pointer',
    { comparesLocation: false, options: {} },
    /was acknowledged and is lost|in the log 0 times/,
  ],
  [
    'a manifest that is merged out of its own snapshot',
    { comparesLocation: true, options: { wrapStore: mergingStore } },
    /does not add|is missing/,
  ],
  [
    'a feed that is followed by the plain sequence number',
    { comparesLocation: true, options: { feedOrder: 'serial' } },
    /the feed gave the events/,
  ],
  [
    'a transaction that ends with each of its statements',
    { comparesLocation: true, options: { commitsEachStatement: true } },
    /half of transaction .* is there/,
  ],
])(
  'the simulation finds %s',
  async (_, mutant, problem) => {
    const report = await findProblem(mutant, problem)
    expect(report?.problems.join('\n')).toMatch(problem)
  },
  TEST_TIMEOUT_MS,
)

it('a schedule is the same each time it is run', async () => {
  const statements = await modelStatements({ comparesLocation: true })
  const options = { statements, startProcess: startSimulatedProcess }
  for (let seed = 1; seed <= 10; seed += 1) {
    const first = await runSchedule(seed, options)
    expect(await runSchedule(seed, options)).toEqual(first)
  }
})

it(
  'schedules are about something',
  async () => {
    const statements = await modelStatements({ comparesLocation: true })
    const totals: Record<string, number> = {}
    const texts: string[] = []
    for (let seed = 1; seed <= 100; seed += 1) {
      const report = await runSchedule(seed, { statements, startProcess: startSimulatedProcess })
      texts.push(...report.trace)
      for (const [outcome, count] of Object.entries(report.outcomes)) {
        totals[outcome] = (totals[outcome] ?? 0) + count
      }
    }
    expect(totals).toMatchObject({
      landed: expect.toSatisfy((count: number) => count > 250) as number,
      failed: expect.any(Number) as number,
      unknown: expect.any(Number) as number,
      'transaction landed': expect.toSatisfy((count: number) => count > 80) as number,
      'transaction failed': expect.any(Number) as number,
      'create landed': expect.toSatisfy((count: number) => count > 20) as number,
      'drop landed': expect.toSatisfy((count: number) => count > 20) as number,
    })
    expect(Object.keys(totals).filter((outcome) => outcome.endsWith('pending'))).toEqual([])
    const trace = texts.join('\n')
    for (const fault of ['unsent', 'lost', 'late', 'unanswered', 'refused']) {
      expect(trace).toContain(`swapMany (${fault})`)
    }
    for (const statement of ['swapMetadataLocation', 'hold pointer', 'createTable', 'dropTable']) {
      expect(trace).toContain(` ${statement}\n`)
    }
    expect(trace).toMatch(/process 4 /)
    expect(trace).toContain('answer 409')
  },
  TEST_TIMEOUT_MS,
)
