import { createsTable } from '@timelake/iceberg/commit/check-requirements'
import type { CommitRequest } from '@timelake/iceberg/commit/table-update'
import type { MutationScope } from './mutation-scope.ts'
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

/** Whether the requests begin with the creation of their table. Throws InvalidInputError, see `createsTable`. */
export function createsItsTable([first]: readonly CommitRequest[]): boolean {
  return first !== undefined && createsTable(first)
}
