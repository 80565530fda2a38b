import { createNamespace, type NamespaceRow } from '../namespaces.ts'
import type { EventInput, EventKind } from '../outbox.ts'
import type { Database } from '../sql-session.ts'
import { createTable, type NewTable } from '../tables.ts'
import { ensureWarehouse, type WarehouseRow } from '../warehouses.ts'

export const NOW_MS = 1_700_000_000_000

/** Opens the one database that a contract suite works on; the suite never closes it. */
export type UseDatabase = () => Database

let idCount = 0

/** A UUID that no earlier call gave. */
export function newId(): string {
  idCount += 1
  return `${idCount.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`
}

/** An event of this kind whose payload says nothing. */
export function event(kind: EventKind, payload = '{}'): EventInput {
  return { kind, payload }
}

/** A warehouse of its own, so that cases do not see each other's rows. */
export function newWarehouse(database: Database): Promise<WarehouseRow> {
  const id = newId()
  const name = `w${id.slice(0, 8)}`
  return ensureWarehouse(database, { id, name, location: `file:///lake/${name}`, nowMs: NOW_MS })
}

/** A new namespace of these levels; its parents must exist. */
export async function newNamespace(
  database: Database,
  warehouse: WarehouseRow,
  levels: readonly string[] = ['ns'],
): Promise<NamespaceRow> {
  const made = await createNamespace(database, {
    id: newId(),
    warehouseId: warehouse.id,
    levels,
    properties: {},
    nowMs: NOW_MS,
    event: event('namespace-created'),
  })
  if (made.outcome !== 'created') throw new Error(`cannot set up namespace: ${made.outcome}`)
  return made.row
}

/** What `createTable` takes for a table of this name, at a location of its own. */
export function tableIn(namespace: NamespaceRow, name = 't'): NewTable {
  const id = newId()
  const location = `${namespace.location}/${name}-${id}`
  return {
    id,
    warehouseId: namespace.warehouseId,
    namespaceId: namespace.id,
    name,
    tableUuid: newId(),
    location,
    metadataLocation: `${location}/metadata/00000.metadata.json`,
    nowMs: NOW_MS,
    event: event('table-created'),
  }
}

/** A table that exists, as it was created. */
export async function newTable(
  database: Database,
  namespace: NamespaceRow,
  name = 't',
): Promise<NewTable> {
  const table = tableIn(namespace, name)
  const outcome = await createTable(database, table)
  if (outcome !== 'created') throw new Error(`cannot set up table: ${outcome}`)
  return table
}

/** What `createTable` takes for a view of this name, at a location of its own. */
export function viewIn(namespace: NamespaceRow, name = 'v'): NewTable {
  return { ...tableIn(namespace, name), kind: 'view', event: event('view-created') }
}

/** A view that exists, as it was created. */
export async function newView(
  database: Database,
  namespace: NamespaceRow,
  name = 'v',
): Promise<NewTable> {
  const view = viewIn(namespace, name)
  const outcome = await createTable(database, view)
  if (outcome !== 'created') throw new Error(`cannot set up view: ${outcome}`)
  return view
}

export interface StoredEvent {
  readonly event_id: string
  readonly event_number: bigint
  readonly kind: string
  readonly name: string | null
  readonly payload: string
}

/** All events of a table or namespace in their order. */
export function eventsOf(database: Database, subjectId: string): Promise<StoredEvent[]> {
  return database.query<StoredEvent>(
    `select event_id, event_number, kind, name, payload from outbox_event
     where event_id like $1 || '-%' order by seq`,
    [subjectId],
  )
}
