import type { CommitRequest } from '@timelake/iceberg/commit/table-update'
import type { FaultPoint } from '@timelake/timelake/contract/fault-points'
import type { MutationScope } from './catalog.ts'
import type { CommitTarget } from './commit-target.ts'
import type { TableIdentifier } from './table-identifier.ts'

/** What a request asks of one table. */
export interface TableCommit {
  readonly identifier: TableIdentifier
  /** At least one; each is checked against, and applied to, what the one before it leaves. */
  readonly requests: readonly CommitRequest[]
}

/** The commits of one request, which land together or not at all; at most one for each table. */
export interface CommitSet extends MutationScope {
  readonly commits: readonly TableCommit[]
  /** By which a repetition of the whole request is recognised. */
  readonly requestHash: string
  /** What a repetition under the same key is answered with: the metadata of the only table, or 204. */
  readonly answers: 'table' | 'nothing'
  /** Whether the caller wants its appends attached to whatever their table is by then. */
  readonly isRebaseAsked: boolean
}

/** The steps of landing a set, by the names under which crash tests know them. */
export function faultPointsOf(
  { commits }: CommitSet,
  [first]: readonly CommitTarget[],
): { readonly checked: FaultPoint; readonly written: FaultPoint; readonly published: FaultPoint } {
  if (commits.length > 1) {
    return {
      checked: 'transaction.requirements-checked',
      written: 'transaction.metadata-written',
      published: 'transaction.swapped',
    }
  }
  return first?.kind === 'new'
    ? {
        checked: 'commit.requirements-checked',
        written: 'create.metadata-written',
        published: 'create.row-written',
      }
    : {
        checked: 'commit.requirements-checked',
        written: 'commit.metadata-written',
        published: 'commit.swapped',
      }
}
