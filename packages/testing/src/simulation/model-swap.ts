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
  readonly processId: string | null
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
export function locksOfSwaps(params: readonly unknown[]): readonly string[] {
  const swaps = swapsOf(params)
  return [
    ...swaps.flatMap(({ tickets }) => tickets.map(keyLock)),
    ...swaps.map(({ tableId }) => `table ${tableId}`),
  ]
}

/** What `swapMany` does and answers. */
export function runSwaps(
  transaction: ModelTransaction,
  params: readonly unknown[],
  rules: SwapRules,
): readonly unknown[] {
  return swapsOf(params).map((swap) => {
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
      ...turnsAfter(table, swap.processId),
    })
    rows.events.push(...events)
    remember(rows, table, swap)
  })
}

/** Who swaps in its turn passes the turn on; who swaps without having it changes nothing about it. */
function turnsAfter(
  { commit_turn: turn, commit_next: next }: TableModel,
  processId: string | null,
): Pick<TableModel, 'commit_turn' | 'commit_next'> {
  return turn !== null && turn === processId
    ? { commit_turn: next, commit_next: null }
    : { commit_turn: turn, commit_next: next }
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

/** The rows of a statement whose parameters are columns; see the numbers in swap-many.ts. */
function swapsOf(params: readonly unknown[]): readonly ModelSwap[] {
  const column = <Value>(number: number): readonly Value[] => params[number - 1] as Value[] // `as`: written by swap-many.ts
  const at = <Value>(number: number, index: number): Value => column<Value>(number)[index] as Value // `as`: all columns are of one length
  const placed = <Item>(number: number, place: number, item: (index: number) => Item): Item[] =>
    column<number>(number).flatMap((its, index) => (its === place ? [item(index)] : []))
  return column<string>(1).map((tableId, index) => {
    const place = index + 1
    return {
      tableId,
      expected: at<string>(2, index),
      next: at<string>(3, index),
      tableUuid: at<string>(4, index),
      location: at<string>(5, index),
      nowMs: BigInt(at<number>(6, index)),
      tickets: placed(8, place, (nth) => ({
        warehouseId: at<string>(9, nth),
        key: at<string>(10, nth),
        status: at<number>(11, nth),
        body: at<string | null>(12, nth),
        metadataLocation: at<string | null>(13, nth),
      })),
      events: placed(14, place, (nth) => ({
        kind: at<string>(16, nth),
        payload: at<string>(17, nth),
      })),
      forgotten: placed(18, place, (nth) => at<bigint>(19, nth)),
      added: placed(20, place, (nth) => ({
        snapshotId: at<bigint>(21, nth),
        requestHash: at<string>(22, nth),
      })),
      batches: placed(23, place, (nth) => ({
        batchId: at<string>(24, nth),
        requestHash: at<string>(25, nth),
        snapshotId: at<bigint>(26, nth),
        expiresAtMs: BigInt(at<number>(27, nth)),
      })),
      processId: params[27] as string | null, // `as`: written by swap-many.ts
    }
  })
}
