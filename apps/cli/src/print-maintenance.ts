import type { CompactionDryRun, MaintenanceReport } from './admin-client.ts'
import { printCount, printSize, printTime } from './print-quantities.ts'

type Job = MaintenanceReport['jobs'][number]
type Run = MaintenanceReport['runs'][number]
type Group = NonNullable<CompactionDryRun['groups']>[number]

const RUNS_SHOWN_MAX = 5
const GROUPS_SHOWN_MAX = 20

/** Runs, decisions and triggers of a table as lines of text. */
export function printMaintenance({ jobs, runs }: MaintenanceReport, nowMs: number): string[] {
  if (jobs.length === 0 && runs.length === 0) return ['maintenance: nothing was looked at yet']
  return [
    ...jobs.flatMap((job) => printJob(job, nowMs)),
    ...(runs.length === 0 ? [] : ['last runs']),
    ...runs.slice(0, RUNS_SHOWN_MAX).map((run) => `  ${printRun(run, nowMs)}`),
  ]
}

/** A plan as lines of text: the outcome, why, and what would be merged. */
export function printDryRun(plan: CompactionDryRun): string[] {
  const { numbers, groups = [] } = plan
  const remaining = plan['remaining-group-count'] ?? 0n
  return [
    `${plan.outcome}: ${plan.reason}`,
    ...(numbers === undefined
      ? []
      : [
          `  ${printCount(numbers['live-file-count'], 'live file')}, ` +
            `${printCount(numbers['small-file-count'], 'small file')} ` +
            `in ${printCount(numbers['partition-count'], 'partition')}`,
        ]),
    ...groups.slice(0, GROUPS_SHOWN_MAX).map((group) => `  ${printGroup(group)}`),
    ...(groups.length > GROUPS_SHOWN_MAX
      ? [`  and ${groups.length - GROUPS_SHOWN_MAX} more groups`]
      : []),
    ...(remaining > 0n ? [`  ${printCount(remaining, 'group')} left for a later run`] : []),
  ]
}

function printJob(job: Job, nowMs: number): string[] {
  const trigger = job['next-trigger-ms']
  const pending = job['pending-commits']
  const decision = job['last-decision']
  const decidedMs = job['decided-ms']
  const when = trigger === null ? 'with the next commit' : printTime(trigger, nowMs)
  const why = job.reason === null ? '' : `, ${job.reason}`
  return [
    job['job-kind'],
    `  next trigger    ${when}${why}`,
    `  new commits     ${pending}`,
    ...(decision === null
      ? []
      : [
          `  last decision   ${decision.outcome}: ${decision.reason}`,
          ...(decidedMs === null ? [] : [`  decided         ${printTime(decidedMs, nowMs)}`]),
        ]),
  ]
}

function printRun(run: Run, nowMs: number): string {
  const why = run.reason === null ? '' : `: ${run.reason}`
  const tookMs = run['finished-ms'] === null ? undefined : run['finished-ms'] - run['started-ms']
  const took = tookMs === undefined ? '' : `, ${tookMs} ms`
  return `${printTime(run['started-ms'], nowMs)}${took}  ${run['job-kind']} ${run.state}${why}`
}

function printGroup(group: Group): string {
  const key =
    group.partition.length === 0 ? '' : ` of partition (${group.partition.map(String).join(', ')})`
  return (
    `${printCount(group['input-file-count'], 'file')}${key}, ${printSize(group['input-size-bytes'])}, ` +
    `${printCount(group['input-row-count'], 'row')}: ${group.reason}`
  )
}
