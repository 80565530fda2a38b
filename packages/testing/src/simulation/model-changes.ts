import { inEventOrder } from '@timelake/database/event-order'
import { commitTables } from '@timelake/database/commit-tables'
import { lockLocations } from '@timelake/database/lock-locations'
import type { Database } from '@timelake/database/sql-session'
import { swapMetadataLocation } from '@timelake/database/swap-metadata-location'
import { createTable, dropTable } from '@timelake/database/tables'
import { learnStatements } from './learn-statements.ts'
import type { ModelStatement, ModelTransaction } from './model-database.ts'
import type { EventModel, ModelRows, TableModel } from './model-rows.ts'
import { keyLock } from './model-swap.ts'

/** What functions are called with to learn where in a statement each of their values goes. */
const MARKS = {
  tableId: '?table',
  expected: '?expected',
  next: '?next',
  tableUuid: '?uuid',
  location: 'file:///?location',
  warehouseId: '?warehouse',
  namespaceId: '?namespace',
  tableName: '?name',
  nowMs: 1_234_567,
  kind: 'table-committed',
  payload: '?payload',
  key: '?key',
  status: 299,
  body: '?body',
  outcomeLocation: '?outcome',
  requestHash: '?hash',
  added: [11n],
  forgotten: [12n],
  purgeRequested: true,
} as const

type Mark = keyof typeof MARKS

/** The parameters of a statement by what they mean. */
class Named {
  readonly #params: readonly unknown[]
  readonly #places: ReadonlyMap<Mark, number>

  constructor(params: readonly unknown[], places: ReadonlyMap<Mark, number>) {
    this.#params = params
    this.#places = places
  }

  value(mark: Mark): unknown {
    const place = this.#places.get(mark)
    if (place === undefined) throw new Error(`the statement has no parameter for ${mark}`)
    return this.#params[place]
  }

  text(mark: Mark): string {
    return String(this.value(mark))
  }

  longs(mark: 'added' | 'forgotten'): readonly bigint[] {
    return this.value(mark) as readonly bigint[] // `as`: the functions send such arrays
  }
}

/** A change of a name or a pointer and the function that sends it. */
interface KnownChange {
  readonly name: string
  readonly send: (database: Database) => Promise<unknown>
  /** Its place among the statements that the function sends, from 1. */
  readonly nth?: number
  readonly locks?: (named: Named, rows: ModelRows) => readonly string[]
  run(transaction: ModelTransaction, named: Named): readonly unknown[]
}

/** The statements that make, drop and hold tables, and that move a pointer within a transaction, by their texts. */
export async function modelChanges(): Promise<readonly (readonly [string, ModelStatement])[]> {
  return Promise.all(
    CHANGES.map(async (known): Promise<readonly [string, ModelStatement]> => {
      const { name, send, nth, locks } = known
      const statement = (await learnStatements(send, nth)).at(-1)
      const places = placesIn(statement?.params ?? [])
      const named = (params: readonly unknown[]): Named => new Named(params, places)
      return [
        statement?.text ?? '',
        {
          name,
          ...(locks && { locks: (params, rows) => locks(named(params), rows) }),
          run: (transaction, params) => known.run(transaction, named(params)),
        },
      ]
    }),
  )
}

function placesIn(params: readonly unknown[]): ReadonlyMap<Mark, number> {
  const texts = params.map(shown)
  const places = new Map<Mark, number>()
  // `as`: the names are those of MARKS.
  for (const mark of Object.keys(MARKS) as Mark[]) {
    const place = texts.indexOf(shown(MARKS[mark]))
    if (place >= 0) places.set(mark, place)
  }
  return places
}

function shown(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'bigint' ? `${inner}n` : inner,
  )
}

const EVENT = { kind: MARKS.kind, payload: MARKS.payload }
const CHANGE = {
  nowMs: MARKS.nowMs,
  event: EVENT,
  idempotency: {
    warehouseId: MARKS.warehouseId,
    key: MARKS.key,
    outcome: { status: MARKS.status, body: MARKS.body, metadataLocation: MARKS.outcomeLocation },
  },
}
const PLACED = { ...CHANGE, tableUuid: MARKS.tableUuid, location: MARKS.location }
const LANDED = {
  requestHash: MARKS.requestHash,
  snapshotIds: MARKS.added,
  forgetSnapshotIds: MARKS.forgotten,
}

const CHANGES: readonly KnownChange[] = [
  {
    name: 'lock locations',
    send: (database) => lockLocations(database, MARKS),
    locks(named, rows) {
      const byTable = rows.tables.get(named.text('tableId'))?.warehouse_id
      return [`locations ${String(named.value('warehouseId') ?? byTable)}`]
    },
    run(transaction) {
      transaction.id()
      return []
    },
  },
  {
    name: 'swapMetadataLocation',
    send: (database) =>
      swapMetadataLocation(database, {
        ...PLACED,
        tableId: MARKS.tableId,
        expected: MARKS.expected,
        next: MARKS.next,
        landed: LANDED,
      }),
    locks: (named) => [...keyLocks(named), `table ${named.text('tableId')}`],
    run: swapOne,
  },
  {
    name: 'hold pointer',
    send: (database) =>
      commitTables(database, {
        nowMs: 0,
        steps: [
          { change: 'hold', tableId: MARKS.tableId, expected: 'm' },
          {
            ...{ change: 'swap', tableId: '~', expected: 'm', next: 'n', event: EVENT },
            ...{ tableUuid: 'u', location: 'l' },
          },
        ],
      }),
    locks: (named) => [`table ${named.text('tableId')}`],
    run: ({ rows }, named) =>
      [rows.tables.get(named.text('tableId'))].filter((row) => row !== undefined),
  },
  {
    name: 'createTable',
    nth: 2,
    send: (database) =>
      createTable(database, {
        ...PLACED,
        id: MARKS.tableId,
        warehouseId: MARKS.warehouseId,
        namespaceId: MARKS.namespaceId,
        name: MARKS.tableName,
        metadataLocation: MARKS.next,
        landed: LANDED,
        extraRoots: [],
      }),
    locks: (named) => [
      ...keyLocks(named),
      nameLock({ namespace_id: named.text('namespaceId'), name: named.text('tableName') }),
    ],
    run: makeTable,
  },
  {
    name: 'dropTable',
    send: (database) =>
      dropTable(database, {
        ...CHANGE,
        tableId: MARKS.tableId,
        purgeRequested: MARKS.purgeRequested,
      }),
    // A name that is being given up is waited for by whoever wants it.
    locks(named, rows) {
      const table = rows.tables.get(named.text('tableId'))
      const locks = [...keyLocks(named), `table ${named.text('tableId')}`]
      return table === undefined ? locks : [...locks, nameLock(table)]
    },
    run: removeTable,
  },
  {
    name: 'move event behind',
    send: (database) => inEventOrder(database, MARKS.tableId, () => Promise.resolve()),
    run: moveEventBehind,
  },
]

/** Whether one of two locations is the other or contains it. */
export function isNear(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`)
}

function nameLock({ namespace_id, name }: Pick<TableModel, 'namespace_id' | 'name'>): string {
  return `name ${namespace_id} ${name}`
}

function ticketOf(
  named: Named,
): { readonly warehouseId: string; readonly key: string } | undefined {
  const key = named.value('key')
  return typeof key === 'string' ? { warehouseId: named.text('warehouseId'), key } : undefined
}

function keyLocks(named: Named): readonly string[] {
  const ticket = ticketOf(named)
  return ticket === undefined ? [] : [keyLock(ticket)]
}

/** Whether no other call with the key has finished. */
function isAllowed({ keys }: ModelRows, named: Named): boolean {
  const ticket = ticketOf(named)
  if (ticket === undefined) return true
  return keys.get(`${ticket.warehouseId} ${ticket.key}`)?.status === null
}

function finishKey({ keys }: ModelRows, named: Named): void {
  const ticket = ticketOf(named)
  if (ticket === undefined) return
  const place = `${ticket.warehouseId} ${ticket.key}`
  const reserved = keys.get(place)
  if (reserved === undefined) return
  // `as`: the function sends what the columns hold.
  const status = named.value('status') as number
  const [body, location] = [named.value('body'), named.value('outcomeLocation')] as (
    string | null
  )[]
  keys.set(place, { ...reserved, status, body: body ?? null, metadata_location: location ?? null })
}

/** What happens to one table: the row that it has afterwards, and its event under the number of that row. */
function change(
  transaction: ModelTransaction,
  named: Named,
  { table, apply }: { readonly table: TableModel; readonly apply: (rows: ModelRows) => void },
): void {
  const { rows } = transaction
  const event: EventModel = {
    seq: transaction.nextSeq(),
    transaction_id: transaction.id(),
    event_id: `${table.id}-${table.event_number}`,
    warehouse_id: table.warehouse_id,
    table_id: table.id,
    table_uuid: table.table_uuid,
    event_number: table.event_number,
    kind: named.text('kind'),
    levels: rows.namespaces.get(table.namespace_id)?.levels ?? '',
    name: table.name,
    payload: named.text('payload'),
    created_at_ms: BigInt(named.text('nowMs')),
  }
  transaction.change(() => {
    apply(rows)
    rows.events.push(event)
    finishKey(rows, named)
  })
}

function remember(rows: ModelRows, named: Named, metadataLocation: string): void {
  const id = named.text('tableId')
  for (const snapshotId of named.longs('forgotten')) rows.landed.delete(`${id} ${snapshotId}`)
  for (const snapshotId of named.longs('added')) {
    rows.landed.set(`${id} ${snapshotId}`, {
      table_id: id,
      snapshot_id: snapshotId,
      request_hash: named.text('requestHash'),
      metadata_location: metadataLocation,
      landed_at_ms: BigInt(named.text('nowMs')),
    })
  }
}

function swapOne(transaction: ModelTransaction, named: Named): readonly unknown[] {
  const { rows } = transaction
  const row = rows.tables.get(named.text('tableId'))
  const [location, next] = [named.text('location'), named.text('next')]
  const allowed = isAllowed(rows, named)
  const isExpected = row?.metadata_location === named.value('expected')
  const changed = allowed && isExpected && row?.location === location
  const verdict = { changed, allowed, overlap: false }
  if (!changed || row === undefined) {
    return [
      { ...verdict, current: row?.metadata_location ?? null, location: row?.location ?? null },
    ]
  }
  const table: TableModel = {
    ...row,
    metadata_location: next,
    table_uuid: named.text('tableUuid'),
    version: row.version + 1n,
    event_number: row.event_number + 1n,
  }
  change(transaction, named, {
    table,
    apply(committed) {
      committed.tables.set(table.id, table)
      remember(committed, named, next)
    },
  })
  return [{ ...verdict, current: row.metadata_location, location }]
}

function makeTable(transaction: ModelTransaction, named: Named): readonly unknown[] {
  const { rows } = transaction
  const [id, name, location] = [
    named.text('tableId'),
    named.text('tableName'),
    named.text('location'),
  ]
  const home = rows.namespaces.get(named.text('namespaceId'))
  const tables = [...rows.tables.values()]
  const taken = tables.some((one) => one.namespace_id === home?.id && one.name === name)
  const overlap = tables.some((one) => isNear(one.location, location))
  const allowed = isAllowed(rows, named)
  const changed = allowed && home !== undefined && !overlap && !taken && !rows.dropped.has(id)
  const verdict = { changed, allowed, home: home !== undefined, overlap, taken, purged: false }
  if (!changed) return [verdict]
  const table: TableModel = {
    ...{ id, name, location, kind: 'table', extra_roots: 'none', version: 0n },
    warehouse_id: home.warehouse_id,
    namespace_id: home.id,
    table_uuid: named.text('tableUuid'),
    metadata_location: named.text('next'),
    event_number: 1n,
    ...{ commit_turn: null, commit_next: null },
  }
  change(transaction, named, {
    table,
    apply(committed) {
      committed.tables.set(id, table)
      remember(committed, named, table.metadata_location)
    },
  })
  return [verdict]
}

function removeTable(transaction: ModelTransaction, named: Named): readonly unknown[] {
  const { rows } = transaction
  const row = rows.tables.get(named.text('tableId'))
  const allowed = isAllowed(rows, named)
  if (!allowed || row === undefined) return [{ changed: false, allowed, found: true }]
  const table = { ...row, event_number: row.event_number + 1n }
  change(transaction, named, {
    table,
    apply(committed) {
      const { extra_roots: _roots, commit_turn: _turn, commit_next: _next, ...kept } = table
      committed.tables.delete(table.id)
      committed.dropped.set(table.id, {
        ...kept,
        levels: committed.namespaces.get(kept.namespace_id)?.levels ?? '',
        purge_requested: named.value('purgeRequested') === true,
        dropped_at_ms: BigInt(named.text('nowMs')),
        ...{ purge_requested_at_ms: null, purge_started_at_ms: null, purged_at_ms: null },
      })
      for (const [place, landed] of committed.landed) {
        if (landed.table_id === table.id) committed.landed.delete(place)
      }
    },
  })
  return [{ changed: true, allowed, found: true }]
}

/** See event-order.ts: the event of this transaction comes behind those of the table that began later and ended before. */
function moveEventBehind(transaction: ModelTransaction, named: Named): readonly unknown[] {
  const { rows } = transaction
  const own = transaction.id()
  const isOfTable = ({ event_id }: EventModel): boolean =>
    event_id.startsWith(`${named.text('tableId')}-`)
  const later = rows.events
    .filter((event) => isOfTable(event) && event.transaction_id > own)
    .map((event) => event.transaction_id)
  const last = later.reduce((highest, id) => (id > highest ? id : highest), own)
  if (last === own) return []
  transaction.change(() => {
    rows.events.forEach((event, index) => {
      if (event.transaction_id === own && isOfTable(event))
        rows.events[index] = { ...event, transaction_id: last }
    })
  })
  return []
}
