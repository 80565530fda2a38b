import type { CommitRequest } from '@timelake/iceberg/commit/table-update'
import type { MutationScope } from './catalog.ts'
import type { TableIdentifier } from './table-identifier.ts'

/** One call of the commit route. */
export interface TableCommit extends MutationScope {
  readonly identifier: TableIdentifier
  readonly request: CommitRequest
  /** See `commitRequestHash`. */
  readonly requestHash: string
}
