import { swapColumnsOf, type SwapParts } from '@timelake/database/swap-statement'
import type { ModelTransaction } from './model-database.ts'
import type { EventModel, KeyModel, ModelRows, TableModel } from './model-rows.ts'

/** The parameters of the statement of `swapMany`, which come as columns, in rows. */
export interface ModelSwap {
  readonly tableId: string
  readonly expected: string
  readonly next: string
  readonly tableUuid: string
  readonly location: string
  readonly nowMs: bigint
  readonly tickets: readonly ModelTicket[]
  readonly events: readonly { readonly kind: string; readonly payload: string }[]
  readonly forgotten: readonly bigint[]
  readonly added: readonly { readonly snapshotId: bigint; readonly requestHash: string }[]
  readonly batches: readonly ModelBatch[]
}

interface ModelTicket {
  readonly warehouseId: string
  readonly key: string
  readonly status: number
  readonly body: string | null
  readonly metadataLocation: string | null
}

interface ModelBatch {
  readonly batchId: string
  readonly requestHash: string
  readonly snapshotId: bigint
  readonly expiresAtMs: bigint
}

/** Whether a swap may move a pointer that is somewhere else than it expects: only a broken catalog does that. */
export interface SwapRules {
  readonly comparesLocation: boolean
}

/** The rows that `swapMany` locks: keys, then tables. */
export function locksOfSwaps(parts: SwapParts, params: readonly unknown[]): readonly string[] {
  const swaps = swapsOf(parts, params)
  return [
    ...swaps.flatMap(({ tickets }) => tickets.map(keyLock)),
    ...swaps.map(({ tableId }) => `table ${tableId}`),
  ]
}

/** What `swapMany` does and answers. */
export function runSwaps(
  transaction: ModelTransaction,
  params: readonly unknown[],
  rules: SwapRules & SwapParts,
): readonly unknown[] {
  return swapsOf(rules, params).map((swap) => {
    const { rows } = transaction
    const lost = swap.tickets.filter((ticket) => !isOpen(rows, ticket)).map(({ key }) => key)
    if (lost.length > 0) return { lost_keys: lost.join(' '), changed: false, present: false }
    const table = rows.tables.get(swap.tableId)
    if (table === undefined) return { lost_keys: null, changed: false, present: false }
    const isExpected = !rules.comparesLocation || table.metadata_location === swap.expected
    const changed = isExpected && table.location === swap.location
    if (changed) move(transaction, table, swap)
    return { lost_keys: null, changed, present: true }
  })
}

/** The name under which a key is locked. */
export function keyLock({
  warehouseId,
  key,
}: {
  readonly warehouseId: string
  readonly key: string
}): string {
  return `key ${warehouseId} ${key}`
}

function isOpen(rows: ModelRows, { warehouseId, key }: ModelTicket): boolean {
  const found = rows.keys.get(`${warehouseId} ${key}`)
  return found !== undefined && found.status === null
}

function move(transaction: ModelTransaction, table: TableModel, swap: ModelSwap): void {
  const { rows } = transaction
  const levels = rows.namespaces.get(table.namespace_id)?.levels ?? ''
  const events = swap.events.map(({ kind, payload }, index): EventModel => {
    const number = table.event_number + BigInt(index) + 1n
    return {
      seq: transaction.nextSeq(),
      transaction_id: transaction.id(),
      event_id: `${table.id}-${number}`,
      warehouse_id: table.warehouse_id,
      table_id: table.id,
      table_uuid: swap.tableUuid,
      event_number: number,
      kind,
      levels,
      name: table.name,
      payload,
      created_at_ms: swap.nowMs,
    }
  })
  transaction.change(() => {
    rows.tables.set(table.id, {
      ...table,
      metadata_location: swap.next,
      table_uuid: swap.tableUuid,
      version: table.version + 1n,
      event_number: table.event_number + BigInt(events.length),
    })
    rows.events.push(...events)
    remember(rows, table, swap)
  })
}

function remember(rows: ModelRows, { id }: TableModel, swap: ModelSwap): void {
  const { next: location, nowMs } = swap
  for (const snapshotId of swap.forgotten) rows.landed.delete(`${id} ${snapshotId}`)
  for (const { snapshotId, requestHash } of swap.added) {
    rows.landed.set(`${id} ${snapshotId}`, {
      table_id: id,
      snapshot_id: snapshotId,
      request_hash: requestHash,
      metadata_location: location,
      landed_at_ms: nowMs,
    })
  }
  for (const batch of swap.batches) {
    rows.batches.set(`${id} ${batch.batchId}`, {
      table_id: id,
      batch_id: batch.batchId,
      request_hash: batch.requestHash,
      snapshot_id: batch.snapshotId,
      expires_at_ms: batch.expiresAtMs,
    })
  }
  for (const { warehouseId, key, status, body, metadataLocation } of swap.tickets) {
    const place = `${warehouseId} ${key}`
    const reserved = rows.keys.get(place)
    const finished = { status, body, metadata_location: metadataLocation }
    if (reserved !== undefined)
      rows.keys.set(place, { ...reserved, ...finished } satisfies KeyModel)
  }
}

/** The swaps of a statement whose parameters are columns. */
function swapsOf(parts: SwapParts, params: readonly unknown[]): readonly ModelSwap[] {
  const columns = swapColumnsOf(parts, params)
  type Section = 'tickets' | 'events' | 'forgotten' | 'landed' | 'batches'
  /** The items of the swap at a place; `value` reads the n-th column, from 1, of one. */
  const placed = <Item>(
    section: Section,
    place: number,
    item: (value: <Value>(nth: number) => Value) => Item,
  ): Item[] =>
    (columns[section][0] ?? []).flatMap((its, index) =>
      // `as`: the types of the columns are those that swap-statement.ts names.
      its === place
        ? [item(<Value>(nth: number) => columns[section][nth - 1]?.[index] as Value)]
        : [],
    )
  return (columns.input[0] ?? []).map((tableId, index) => {
    const place = index + 1
    const text = (nth: number): string => String(columns.input[nth - 1]?.[index])
    return {
      tableId: String(tableId),
      expected: text(2),
      next: text(3),
      tableUuid: text(4),
      location: text(5),
      nowMs: BigInt(text(6)),
      tickets: placed('tickets', place, (value) => ({
        warehouseId: value<string>(2),
        key: value<string>(3),
        status: value<number>(4),
        body: value<string | null>(5),
        metadataLocation: value<string | null>(6),
      })),
      events: placed('events', place, (value) => ({
        kind: value<string>(3),
        payload: value<string>(4),
      })),
      forgotten: placed('forgotten', place, (value) => value<bigint>(2)),
      added: placed('landed', place, (value) => ({
        snapshotId: value<bigint>(2),
        requestHash: value<string>(3),
      })),
      batches: placed('batches', place, (value) => ({
        batchId: value<string>(2),
        requestHash: value<string>(3),
        snapshotId: value<bigint>(4),
        expiresAtMs: BigInt(value<number>(5)),
      })),
    }
  })
}
