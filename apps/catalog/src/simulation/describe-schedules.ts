import { modelStatements } from '@timelake/testing/simulation/model-statements'
import { runSchedule, type ScheduleReport } from '@timelake/testing/simulation/run-schedule'
import { testServices } from '@timelake/testing/test-services'
import { describe, expect, it } from 'vitest'
import { startSimulatedProcess } from './start-simulated-process.ts'

/** Schedules of one test. */
const SCHEDULES_PER_TEST = 250
/** Far above what they take: a schedule that hangs is ended by the simulation itself. */
const TEST_TIMEOUT_MS = 600_000
/** Steps of a failed schedule that are printed. */
const STEPS_SHOWN = 80

/** One part of the schedules of this run, so that several workers share them. */
export function describeSchedules({
  part,
  parts,
}: {
  readonly part: number
  readonly parts: number
}): void {
  const { firstSeed, scheduleCount } = testServices().simulation
  const ownCount = Math.ceil(scheduleCount / parts)
  const from = firstSeed + part * ownCount
  const end = Math.min(firstSeed + scheduleCount, from + ownCount)
  describe('the catalog in a simulated world', () => {
    for (let seed = from; seed < end; seed += SCHEDULES_PER_TEST) {
      const last = Math.min(end, seed + SCHEDULES_PER_TEST) - 1
      it(
        `loses, doubles and damages nothing in schedules ${seed} to ${last}`,
        () => runAll(seed, last),
        TEST_TIMEOUT_MS,
      )
    }
    if (from >= end) it('has no schedule left for this part', () => {})
  })
}

async function runAll(first: number, last: number): Promise<void> {
  const statements = await modelStatements({ comparesLocation: true })
  for (let seed = first; seed <= last; seed += 1) {
    const report = await runSchedule(seed, { statements, startProcess: startSimulatedProcess })
    expect(report.problems, explanation(report)).toEqual([])
  }
}

/** How to see it again. */
function explanation({ seed, trace }: ScheduleReport): string {
  const steps = trace.slice(-STEPS_SHOWN).join('\n')
  return (
    `schedule ${seed} went wrong; to see it again: TEST_SIMULATION_SEED=${seed} TEST_SIMULATION_SCHEDULES=1 ` +
    `npx vitest run --project catalog simulation/schedules\nits last steps:\n${steps}\n`
  )
}
