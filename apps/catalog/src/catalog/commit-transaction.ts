import type { CommitRequest } from '@timelake/iceberg/commit/table-update'
import { wantedSnapshots } from '../pending-commits.ts'
import type { Catalog } from './catalog.ts'
import type { MutationScope } from './mutation-scope.ts'
import { landCommits, type LandedTables } from './land-commits.ts'
import { transactionRequestHash } from './landed-request.ts'
import type { TableCommit } from './table-commit.ts'
import { identifierKey, type TableIdentifier } from './table-identifier.ts'

export interface TransactionChange {
  readonly identifier: TableIdentifier
  readonly request: CommitRequest
  /** See `commitRequestHash`. */
  readonly requestHash: string
}

export interface Transaction extends MutationScope {
  /** At least one. */
  readonly changes: readonly TransactionChange[]
  readonly isRebaseAsked: boolean
}

/**
 * Applies the changes to all their tables or to none; a change may create its table. Several changes of one table are applied
 * one after another, each with its requirements checked on what the one before it leaves, and land in one metadata file. A
 * single change is a commit of its table like any other. Answers the tables in the order of `tableCommits`. Throws what
 * `landCommits` throws.
 * Spec: REST catalog, commitTransaction.
 */
export function commitTransaction(
  catalog: Catalog,
  transaction: Transaction,
): Promise<LandedTables> {
  const { warehouse, slot, isRebaseAsked } = transaction
  const commits = tableCommits(transaction)
  return catalog.pending.during(wantedSnapshots(warehouse.id, commits), () =>
    landCommits(catalog, {
      warehouse,
      slot,
      commits,
      requestHash: requestHashOf(transaction),
      answers: 'nothing',
      isRebaseAsked,
    }),
  )
}

/** The changes of each table, tables and changes in their order. */
export function tableCommits({ changes, warehouse }: Transaction): readonly TableCommit[] {
  const byTable = new Map<string, TableCommit & { requests: CommitRequest[] }>()
  for (const { identifier, request } of changes) {
    const table = identifierKey(warehouse.id, identifier)
    const known = byTable.get(table)
    if (known === undefined) byTable.set(table, { identifier, requests: [request] })
    else known.requests.push(request)
  }
  return [...byTable.values()]
}

/** That of the only change, so that it is recognised on either route. */
function requestHashOf({ changes, warehouse }: Transaction): string {
  const [first] = changes
  if (first !== undefined && changes.length === 1) return first.requestHash
  return transactionRequestHash(
    changes.map(({ identifier, requestHash }) => ({
      table: identifierKey(warehouse.id, identifier),
      requestHash,
    })),
  )
}
