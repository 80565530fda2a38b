import { createNamespace } from '@timelake/database/namespaces'
import type { Database } from '@timelake/database/sql-session'
import { restoreTable } from '@timelake/database/tables'
import { ensureWarehouse } from '@timelake/database/warehouses'
import type { RecoveredTable, RecoveryPlan } from './plan-recovery.ts'

export interface RestoreOptions {
  readonly plan: RecoveryPlan
  readonly warehouse: { readonly name: string; readonly location: string }
  readonly nowMs: number
  readonly newUuid: () => string
}

/**
 * Writes the rows of a plan into an empty database. Ids are kept where the plan has them, so default locations and
 * job histories keep their meaning. Throws when a row cannot be written: the caller throws the database away.
 */
export async function restoreRows(database: Database, options: RestoreOptions): Promise<void> {
  const { plan, nowMs, newUuid } = options
  const warehouse = await ensureWarehouse(database, { id: newUuid(), nowMs, ...options.warehouse })
  const namespaceIds = new Map<string, string>()
  for (const { id = newUuid(), levels, properties } of plan.namespaces) {
    const event = { kind: 'namespace-created', payload: '{"recovered":true}' } as const
    const namespace = { id, warehouseId: warehouse.id, levels, properties, nowMs, event }
    const { outcome } = await createNamespace(database, namespace)
    if (outcome !== 'created') throw cannotRestore('namespace', levels, outcome)
    namespaceIds.set(JSON.stringify(levels), id)
  }
  for (const table of plan.tables) {
    const namespaceId = namespaceIds.get(JSON.stringify(table.levels)) ?? ''
    const outcome = await restoreTable(database, {
      ...table,
      id: table.id ?? newUuid(),
      warehouseId: warehouse.id,
      namespaceId,
      version: versionOf(table),
      nowMs,
      event: { kind: 'table-registered', payload: recoveredPayload(table) },
    })
    if (outcome !== 'restored') throw cannotRestore('table', [...table.levels, table.name], outcome)
  }
}

// The worker treats this like a registration: it looks at the table once.
function recoveredPayload({ metadataLocation }: RecoveredTable): string {
  return JSON.stringify({ 'metadata-location': metadataLocation, recovered: true })
}

// The number in the metadata file's name counts the commits.
function versionOf({ metadataLocation }: RecoveredTable): bigint {
  return BigInt(/\/v?(\d{1,15})[^/]*$/.exec(metadataLocation)?.[1] ?? '0')
}

function cannotRestore(what: string, names: readonly string[], outcome: string): Error {
  return new Error(`cannot restore ${what} ${names.join('.')}: ${outcome}`)
}
