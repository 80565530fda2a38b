import type { CommitRequest, TableUpdate } from '@timelake/iceberg/commit/table-update'
import { MAIN_BRANCH } from '@timelake/iceberg/spec/snapshot'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { NO_SNAPSHOT, type Head } from './turn-rules.ts'

/** What a caller that loads this metadata will build on. */
export function headOf({ refs }: Pick<TableMetadata, 'refs'>): Head {
  return refs[MAIN_BRANCH]?.snapshotId.toString() ?? NO_SNAPSHOT
}

/** The state of main that a commit builds on; undefined when it asserts none. */
export function baseOf({ requirements }: CommitRequest): Head | undefined {
  for (const requirement of requirements) {
    if (requirement.type !== 'assert-ref-snapshot-id' || requirement.ref !== MAIN_BRANCH) continue
    return requirement.snapshotId?.toString() ?? NO_SNAPSHOT
  }
  return undefined
}

/** Whether a refusal of this commit may mean that somebody else moved the branch first. */
export function canLoseRace({ requirements }: CommitRequest): boolean {
  return requirements.some(({ type }) => type === 'assert-ref-snapshot-id')
}

/** What main is after this commit; undefined when it does not move a ref. */
export function headAfter({ updates }: CommitRequest): Head | undefined {
  return updates.map(newHead).findLast((head) => head !== undefined)
}

function newHead(update: TableUpdate): Head | undefined {
  if (update.action === 'set-snapshot-ref') return update.ref.snapshotId.toString()
  return update.action === 'remove-snapshot-ref' ? NO_SNAPSHOT : undefined
}
