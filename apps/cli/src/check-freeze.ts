import { mapBounded } from '@timelake/iceberg/io/map-bounded'
import { isSameLocation } from '@timelake/iceberg/spec/location'
import { failureReason } from './failure-reason.ts'
import { listNames } from './migrate-entries.ts'
import { subjectKey, type MigrationName, type MigrationRun } from './migration-run.ts'

/**
 * Reads the source once more and reports what changed there since it was copied: tables that moved on, are new or are
 * gone. A writer was not stopped then, and its commits are missing in the target. Errors: those of the catalog.
 */
export async function checkFreeze(
  run: MigrationRun,
  namespaces: readonly (readonly string[])[],
): Promise<void> {
  const remaining = new Map(run.seen)
  for (const levels of namespaces) {
    for (const kind of run.kinds) {
      const names = await listNames(run, run.source, { kind, levels })
      const subjects = names.map((name) => ({ kind, levels, name }))
      for (const subject of subjects) remaining.delete(subjectKey(subject))
      await mapBounded(subjects, run.concurrency, (subject) => checkOne(run, subject))
    }
  }
  for (const [key, copied] of remaining) {
    // `as`: subjectKey made the text.
    const [kind, levels, name] = JSON.parse(key) as [MigrationName['kind'], string[], string]
    if (copied !== undefined)
      report(run, { kind, levels, name }, 'the source does not have it any more')
  }
}

async function checkOne(run: MigrationRun, subject: MigrationName): Promise<void> {
  const { kind, levels, name } = subject
  const key = subjectKey(subject)
  if (!run.seen.has(key)) return report(run, subject, 'it is new in the source since it was listed')
  const copied = run.seen.get(key)
  if (copied === undefined) return
  try {
    const now = await run.patience.attempt(() =>
      run.source.findEntry(kind, { namespace: levels, name }),
    )
    if (now === undefined) report(run, subject, 'the source does not have it any more')
    else if (!isSameLocation(now.metadataLocation, copied))
      report(run, subject, `the source went on to ${now.metadataLocation}`)
  } catch (error) {
    run.report.add({ ...subject, outcome: 'failed', reason: failureReason(error) })
  }
}

function report(run: MigrationRun, subject: MigrationName, reason: string): void {
  run.report.add({ ...subject, outcome: 'moved-on', reason })
}
