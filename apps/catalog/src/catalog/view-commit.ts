import type { ViewCommitRequest } from '@timelake/iceberg/view/view-update'
import type { MutationScope } from './mutation-scope.ts'
import type { TableIdentifier } from './table-identifier.ts'

/** One call of the commit route of views. */
export interface ViewCommit extends MutationScope {
  readonly identifier: TableIdentifier
  readonly request: ViewCommitRequest
  /** See `commitRequestHash`. */
  readonly requestHash: string
}
