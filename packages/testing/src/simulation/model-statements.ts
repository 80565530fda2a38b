import { findBatches } from '@timelake/database/append-batches'
import { askForTurn, passTurn, readTurn, seizeTurn } from '@timelake/database/commit-turns'
import { findDroppedTable } from '@timelake/database/dropped-tables'
import { readFeed } from '@timelake/database/feed'
import { findTable, findTablesNear } from '@timelake/database/find-tables'
import {
  finishIdempotencyKey,
  releaseIdempotencyKey,
  reserveIdempotencyKey,
} from '@timelake/database/idempotency'
import { findLandedCommit } from '@timelake/database/landed-commits'
import { findNamespace } from '@timelake/database/namespaces'
import { readPointers } from '@timelake/database/read-pointers'
import type { Database } from '@timelake/database/sql-session'
import { SWAP_STATEMENTS } from '@timelake/database/swap-statement'
import { TableFinder } from '@timelake/database/table-finder'
import { findWarehouse } from '@timelake/database/warehouses'
import { READ_BY_SERIAL } from './feed-follower.ts'
import { learnStatements } from './learn-statements.ts'
import { isNear, modelChanges } from './model-changes.ts'
import type { ModelStatement, ModelStatements, ModelTransaction } from './model-database.ts'
import type { EventModel, KeyModel, TableModel } from './model-rows.ts'
import { keyLock, locksOfSwaps, runSwaps, type SwapRules } from './model-swap.ts'

/** A statement of the model and the function that sends it. */
interface Known extends ModelStatement {
  readonly send: (database: Database) => Promise<unknown>
  /** Its place among the statements that the function sends, from 1. */
  readonly nth?: number
}

/**
 * The model's statements by the texts that the functions of `packages/database` send today. A statement that is missing
 * here is refused by the model with its text: write down what it does, and prove it with the contract suites.
 */
export async function modelStatements(rules: SwapRules): Promise<ModelStatements> {
  const swaps = SWAP_STATEMENTS.map(({ text, parts }): readonly [string, ModelStatement] => [
    text,
    {
      name: 'swapMany',
      locks: (params) => locksOfSwaps(parts, params),
      run: (transaction, params) => runSwaps(transaction, params, { ...rules, ...parts }),
    },
  ])
  const learned = await Promise.all(
    [...LOOK_UPS, ...POINTERS, ...KEYS, ...TURNS, FEED].map(
      async (known): Promise<readonly [string, ModelStatement]> => {
        const sent = await learnStatements(known.send, known.nth)
        return [sent.at(-1)?.text ?? '', known]
      },
    ),
  )
  const changes = await modelChanges()
  return new Map([...swaps, [READ_BY_SERIAL, BY_SERIAL], ...learned, ...changes])
}

// `as` in what follows: parameters are what the function of `packages/database` sends.
const text = (params: readonly unknown[], number: number): string => params[number - 1] as string
const texts = (params: readonly unknown[], number: number): readonly string[] =>
  params[number - 1] as string[]
const long = (params: readonly unknown[], number: number): bigint =>
  BigInt(String(params[number - 1]))

const ANY = { warehouseId: 'w', key: 'k' }

function tableRecord({ rows }: ModelTransaction, table: TableModel): Record<string, unknown> {
  return { ...table, levels: rows.namespaces.get(table.namespace_id)?.levels ?? '' }
}

function tableNamed(
  transaction: ModelTransaction,
  [warehouseId, levels, name]: readonly (string | undefined)[],
): Record<string, unknown>[] {
  const { namespaces, tables } = transaction.rows
  const home = [...namespaces.values()].find(
    (one) => one.warehouse_id === warehouseId && one.levels === levels,
  )
  return [...tables.values()]
    .filter((table) => table.namespace_id === home?.id && table.name === name)
    .map((table) => tableRecord(transaction, table))
}

const LOOK_UPS: readonly Known[] = [
  {
    name: 'findWarehouse',
    send: (database) => findWarehouse(database, 'w'),
    run: ({ rows }, params) =>
      [...rows.warehouses.values()].filter(({ name }) => name === text(params, 1)),
  },
  {
    name: 'findTable',
    send: (database) => findTable(database, { warehouseId: 'w', levels: ['n'], name: 't' }),
    run: (transaction, params) => tableNamed(transaction, params.map(String)),
  },
  {
    name: 'findTables',
    send(database) {
      const finder = new TableFinder(database)
      const key = { warehouseId: 'w', levels: ['n'], name: 't' }
      return Promise.all([finder.find(key), finder.find(key)])
    },
    run: (transaction, params) =>
      texts(params, 1).flatMap((warehouseId, index) => {
        const key = [warehouseId, texts(params, 2)[index], texts(params, 3)[index]]
        return tableNamed(transaction, key).map((row) => ({ ...row, place: BigInt(index + 1) }))
      }),
  },
  {
    name: 'findNamespace',
    send: (database) => findNamespace(database, 'w', ['n']),
    run: ({ rows }, params) =>
      [...rows.namespaces.values()].filter(
        (one) => one.warehouse_id === text(params, 1) && one.levels === text(params, 2),
      ),
  },
  {
    // The first of the locations that contain a location is the location itself.
    name: 'findTablesNear',
    send: (database) => findTablesNear(database, { warehouseId: 'w', location: 'file:///l' }),
    run: (transaction, params) =>
      [...transaction.rows.tables.values()]
        .filter(({ location }) => isNear(location, texts(params, 2)[0] ?? ''))
        .map((table) => tableRecord(transaction, table)),
  },
  {
    name: 'findDroppedTable',
    send: (database) => findDroppedTable(database, 't'),
    run: ({ rows }, params) =>
      [rows.dropped.get(text(params, 1))].filter((row) => row !== undefined),
  },
  {
    name: 'findLandedCommit',
    send: (database) => findLandedCommit(database, { tableId: 't', requestHash: 'h' }),
    run: ({ rows }, params) =>
      [...rows.landed.values()]
        .filter((one) => one.table_id === text(params, 1) && one.request_hash === text(params, 2))
        .sort(
          (a, b) =>
            Number(b.landed_at_ms - a.landed_at_ms) || (a.snapshot_id < b.snapshot_id ? -1 : 1),
        ),
  },
  {
    name: 'findBatches',
    send: (database) => findBatches(database, { tableId: 't', batchIds: ['b'] }),
    run: ({ rows }, params) =>
      texts(params, 2).flatMap((id) => rows.batches.get(`${text(params, 1)} ${id}`) ?? []),
  },
]

const POINTERS: readonly Known[] = [
  {
    name: 'hold pointers',
    send: (database) => readPointers(database, ['t']),
    locks: (params) => texts(params, 1).map((id) => `table ${id}`),
    run: () => [],
  },
  {
    name: 'read pointers',
    send: (database) => readPointers(database, ['t']),
    nth: 2,
    run: ({ rows }, params) =>
      texts(params, 1).flatMap((id): readonly unknown[] => {
        const [table, dropped] = [rows.tables.get(id), rows.dropped.get(id)]
        if (table !== undefined) return [{ ...table, is_dropped: false }]
        return dropped === undefined ? [] : [{ ...dropped, is_dropped: true }]
      }),
  },
]

const KEYS: readonly Known[] = [
  {
    name: 'reserveIdempotencyKey',
    send: (database) =>
      reserveIdempotencyKey(database, {
        ...ANY,
        operation: 'o',
        requestHash: 'h',
        nowMs: 0,
        leaseMs: 0,
        lifetimeMs: 0,
      }),
    locks: (params) => [keyLock({ warehouseId: text(params, 1), key: text(params, 2) })],
    run: reserveKey,
  },
  {
    name: 'finishIdempotencyKey',
    send: (database) => finishIdempotencyKey(database, ANY, { status: 204 }),
    locks: (params) => [keyLock({ warehouseId: text(params, 1), key: text(params, 2) })],
    run(transaction, params) {
      const { rows } = transaction
      const place = `${text(params, 1)} ${text(params, 2)}`
      const found = rows.keys.get(place)
      if (found === undefined || found.status !== null) return []
      const [status, body, location] = params.slice(2) as [number, string | null, string | null]
      transaction.change(() =>
        rows.keys.set(place, { ...found, status, body, metadata_location: location }),
      )
      return [{}]
    },
  },
  {
    name: 'releaseIdempotencyKey',
    send: (database) => releaseIdempotencyKey(database, ANY),
    locks: (params) => [keyLock({ warehouseId: text(params, 1), key: text(params, 2) })],
    run(transaction, params) {
      const { rows } = transaction
      const place = `${text(params, 1)} ${text(params, 2)}`
      if (rows.keys.get(place)?.status === null) transaction.change(() => rows.keys.delete(place))
      return []
    },
  },
]

function reserveKey(transaction: ModelTransaction, params: readonly unknown[]): readonly unknown[] {
  const { rows } = transaction
  const [warehouseId, key, operation, requestHash] = params.slice(0, 4) as string[]
  const [nowMs, leaseMs, lifetimeMs] = [long(params, 5), long(params, 6), long(params, 7)]
  const place = `${warehouseId} ${key}`
  const found = rows.keys.get(place)
  const isSame = found?.operation === operation && found?.request_hash === requestHash
  const isFree =
    found === undefined ||
    found.expires_at_ms <= nowMs ||
    (found.status === null && found.lease_until_ms <= nowMs && isSame)
  if (!isFree) return [{ ...found, reserved: false }]
  const reserved = {
    warehouse_id: warehouseId,
    key,
    operation,
    request_hash: requestHash,
    lease_until_ms: nowMs + leaseMs,
    expires_at_ms: nowMs + lifetimeMs,
    status: null,
    body: null,
    metadata_location: null,
  } as KeyModel // `as`: all texts are there
  transaction.change(() => rows.keys.set(place, reserved))
  return [{ reserved: true }]
}

const tableLock = (params: readonly unknown[]): readonly string[] => [`table ${text(params, 1)}`]

/** The table of the first parameter with other turns; answers where they stand. */
function turn(
  transaction: ModelTransaction,
  params: readonly unknown[],
  next: (table: TableModel) => Partial<TableModel> | undefined,
): readonly unknown[] {
  const { rows } = transaction
  const table = rows.tables.get(text(params, 1))
  const turns = table && next(table)
  if (table === undefined || turns === undefined) return []
  transaction.change(() => rows.tables.set(table.id, { ...table, ...turns }))
  return [{ ...table, ...turns }]
}

const PROCESS = { tableId: 't', processId: 'p' }

const TURNS: readonly Known[] = [
  {
    name: 'askForTurn',
    send: (database) => askForTurn(database, PROCESS),
    locks: tableLock,
    run: (transaction, params) =>
      turn(transaction, params, (table) => {
        const isMine = [null, text(params, 2)].includes(table.commit_turn)
        return {
          commit_turn: table.commit_turn ?? text(params, 2),
          commit_next: isMine ? table.commit_next : (table.commit_next ?? text(params, 2)),
        }
      }),
  },
  {
    name: 'readTurn',
    send: (database) => readTurn(database, 't'),
    run: ({ rows }, params) =>
      [rows.tables.get(text(params, 1))].filter((row) => row !== undefined),
  },
  {
    name: 'seizeTurn',
    send: (database) =>
      seizeTurn(database, { ...PROCESS, seen: { turn: 'q', metadataLocation: 'm' } }),
    locks: tableLock,
    run: (transaction, params) =>
      turn(transaction, params, (table) =>
        // @NOTE In SQL nothing equals null.
        params[2] !== null &&
        table.commit_turn === params[2] &&
        table.metadata_location === params[3]
          ? {
              commit_turn: text(params, 2),
              commit_next: table.commit_next === params[1] ? null : table.commit_next,
            }
          : undefined,
      ),
  },
  {
    name: 'passTurn',
    send: (database) => passTurn(database, PROCESS),
    locks: tableLock,
    run: (transaction, params) =>
      turn(transaction, params, (table) =>
        table.commit_turn === params[1]
          ? { commit_turn: table.commit_next, commit_next: null }
          : undefined,
      ),
  },
]

function isBehind(event: EventModel, transactionId: bigint, seq: bigint): boolean {
  return (
    event.transaction_id > transactionId ||
    (event.transaction_id === transactionId && event.seq > seq)
  )
}

/** The order of the feed: by transaction, then by sequence number. */
export function inFeedOrder(a: EventModel, b: EventModel): number {
  return Number(a.transaction_id - b.transaction_id) || Number(a.seq - b.seq)
}

/** Without a filter. */
const FEED: Known = {
  name: 'readFeed',
  send: (database) => readFeed(database, { limit: 1 }),
  run(transaction, params) {
    const reach = transaction.oldestOpenId()
    const [transactionId, seq, scannedMax, limit] = [1, 2, 3, 4].map((nth) =>
      long(params, nth),
    ) as [bigint, bigint, bigint, bigint]
    const { events, feedId } = transaction.rows
    const scanned = events
      .filter((event) => event.transaction_id < reach && isBehind(event, transactionId, seq))
      .sort(inFeedOrder)
      .slice(0, Number(scannedMax))
    const last = scanned.at(-1)
    const frame = {
      feed_id: feedId,
      is_pruned: false,
      reach: String(reach),
      scanned_count: BigInt(scanned.length),
      scanned_transaction_id: last === undefined ? null : String(last.transaction_id),
      scanned_seq: last?.seq ?? null,
    }
    const page = scanned.slice(0, Number(limit))
    if (page.length === 0) return [{ ...frame, transaction_id: null }]
    return page.map((event) => ({
      ...frame,
      ...event,
      transaction_id: String(event.transaction_id),
      details: null,
    }))
  },
}

/** What a follower by plain sequence numbers would read. */
const BY_SERIAL: ModelStatement = {
  name: 'read by serial',
  run: ({ rows }, params) =>
    rows.events
      .filter(({ seq }) => seq > long(params, 1))
      .sort((a, b) => Number(a.seq - b.seq))
      .slice(0, Number(long(params, 2))),
}
