import { createNamespace } from '@timelake/database/namespaces'
import type { Database, SqlSession } from '@timelake/database/sql-session'
import { restoreTable } from '@timelake/database/tables'
import { ensureWarehouse, type NewWarehouse } from '@timelake/database/warehouses'
import type { RecoveredTable, RecoveryPlan } from './plan-recovery.ts'

export interface RestoreOptions {
  readonly plan: RecoveryPlan
  readonly warehouse: Pick<NewWarehouse, 'name' | 'location' | 'storageProfile'>
  readonly nowMs: number
  readonly newUuid: () => string
}

/**
 * Writes the rows of a plan into a database in which the warehouse has none: all of them or, when it throws, none. The
 * warehouse's own row is made if it is missing. Ids are kept where the plan has them, so default locations and job
 * histories keep their meaning.
 */
export async function restoreRows(database: Database, options: RestoreOptions): Promise<void> {
  await database.transaction(async (session) => {
    const { newUuid, nowMs, warehouse } = options
    const { id } = await ensureWarehouse(session, { id: newUuid(), nowMs, ...warehouse })
    const namespaceIds = await restoreNamespaces(session, id, options)
    for (const table of options.plan.tables) {
      const namespaceId = namespaceIds.get(JSON.stringify(table.levels)) ?? ''
      await restoreOne(session, { ...table, warehouseId: id, namespaceId }, options)
    }
  })
}

async function restoreNamespaces(
  session: SqlSession,
  warehouseId: string,
  { plan, nowMs, newUuid }: RestoreOptions,
): Promise<Map<string, string>> {
  const namespaceIds = new Map<string, string>()
  for (const { id = newUuid(), levels, properties } of plan.namespaces) {
    const event = { kind: 'namespace-created', payload: '{"recovered":true}' } as const
    const namespace = { id, warehouseId, levels, properties, nowMs, event }
    const { outcome } = await createNamespace(session, namespace)
    if (outcome !== 'created') throw cannotRestore('namespace', levels, outcome)
    namespaceIds.set(JSON.stringify(levels), id)
  }
  return namespaceIds
}

async function restoreOne(
  session: SqlSession,
  table: RecoveredTable & { readonly warehouseId: string; readonly namespaceId: string },
  { nowMs, newUuid }: RestoreOptions,
): Promise<void> {
  const outcome = await restoreTable(session, {
    ...table,
    id: table.id ?? newUuid(),
    version: versionOf(table),
    nowMs,
    event: {
      kind: table.kind === 'table' ? 'table-registered' : 'view-registered',
      payload: recoveredPayload(table),
    },
  })
  if (outcome !== 'restored')
    throw cannotRestore(table.kind, [...table.levels, table.name], outcome)
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
