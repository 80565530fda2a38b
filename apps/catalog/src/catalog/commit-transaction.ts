import type { CommitRequest } from '@timelake/iceberg/commit/table-update'
import type { Catalog, MutationScope } from './catalog.ts'
import { landCommits } from './land-commits.ts'
import { transactionRequestHash } from './landed-request.ts'
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
}

/**
 * Applies the changes to all their tables or to none; a change may create its table. Several changes of one table are applied
 * one after another, each with its requirements checked on what the one before it leaves, and land in one metadata file. A
 * single change is a commit of its table like any other. Throws what `landCommits` throws.
 * Spec: REST catalog, commitTransaction.
 */
export async function commitTransaction(catalog: Catalog, transaction: Transaction): Promise<void> {
  const { changes, warehouse, slot } = transaction
  const byTable = new Map<string, { identifier: TableIdentifier; requests: CommitRequest[] }>()
  for (const { identifier, request } of changes) {
    const table = identifierKey(warehouse.id, identifier)
    const known = byTable.get(table)
    if (known === undefined) byTable.set(table, { identifier, requests: [request] })
    else known.requests.push(request)
  }
  await landCommits(catalog, {
    warehouse,
    slot,
    commits: [...byTable.values()],
    requestHash: requestHashOf(transaction),
    answers: 'nothing',
  })
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
