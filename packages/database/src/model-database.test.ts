import { learnStatements } from '@timelake/testing/simulation/learn-statements'
import { modelDatabase } from '@timelake/testing/simulation/model-database'
import { noRows } from '@timelake/testing/simulation/model-rows'
import { modelStatements } from '@timelake/testing/simulation/model-statements'
import { seededRandom, type SeededRandom } from '@timelake/testing/simulation/seeded-random'
import { StepScheduler } from '@timelake/testing/simulation/step-scheduler'
import { openTestDatabase } from '@timelake/testing/open-test-database'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findBatches } from './append-batches.ts'
import { commitTables, type TableStep } from './commit-tables.ts'
import { askForTurn, passTurn, readTurn, seizeTurn } from './commit-turns.ts'
import { newId, newNamespace, newTable, newWarehouse, NOW_MS } from './contract/contract-world.ts'
import { findDroppedTable } from './dropped-tables.ts'
import { openFeed, readFeed } from './feed.ts'
import { findTable, findTablesNear } from './find-tables.ts'
import {
  finishIdempotencyKey,
  releaseIdempotencyKey,
  reserveIdempotencyKey,
} from './idempotency.ts'
import { findLandedCommit } from './landed-commits.ts'
import { findNamespace } from './namespaces.ts'
import { readPointers } from './read-pointers.ts'
import type { Database } from './sql-session.ts'
import { type GroupSwap, swapMany } from './swap-many.ts'
import { TableFinder } from './table-finder.ts'
import { createTable, dropTable } from './tables.ts'
import { findWarehouse } from './warehouses.ts'

// The simulation believes its model of the database; here the model is held against the database itself.

const CALLS = 400
const TABLES = ['a', 'b', 'c']

let database: Database
beforeAll(async () => {
  database = await openTestDatabase()
  await openFeed(database, { id: newId() })
})
afterAll(() => database.close())

interface Twins {
  readonly real: Database
  readonly model: Database
  readonly scheduler: StepScheduler
  readonly warehouse: Awaited<ReturnType<typeof newWarehouse>>
  readonly namespaceId: string
  /** Of the tables that are there at first. */
  readonly ids: readonly string[]
  /** Of tables that may be made later. */
  readonly newIds: readonly string[]
}

/** The same warehouse with the same tables in the database and in its model. */
async function twins(seed: number): Promise<Twins> {
  const warehouse = await newWarehouse(database)
  const namespace = await newNamespace(database, warehouse)
  const rows = noRows(newId())
  rows.warehouses.set(warehouse.id, {
    id: warehouse.id,
    name: warehouse.name,
    location: warehouse.location,
    storage_profile: warehouse.storageProfile,
    sealed_credentials: null,
    settings: warehouse.settings,
    version: warehouse.version,
  })
  rows.namespaces.set(namespace.id, {
    id: namespace.id,
    warehouse_id: warehouse.id,
    levels: 'ns',
    properties: '{}',
    default_location: namespace.location,
  })
  const ids: string[] = []
  for (const name of TABLES) {
    const table = await newTable(database, namespace, name)
    const place = { warehouseId: warehouse.id, levels: ['ns'], name }
    const rootState = (await findTable(database, place))?.rootState
    ids.push(table.id)
    rows.tables.set(table.id, {
      id: table.id,
      kind: 'table',
      warehouse_id: warehouse.id,
      namespace_id: namespace.id,
      name,
      table_uuid: table.tableUuid,
      location: table.location,
      metadata_location: table.metadataLocation,
      version: 0n,
      extra_roots: rootState ?? 'unknown',
      event_number: 1n,
      commit_turn: null,
      commit_next: null,
    })
  }
  const scheduler = new StepScheduler(seededRandom(seed), NOW_MS)
  const statements = await modelStatements({ comparesLocation: true })
  const model = modelDatabase(scheduler, { rows, statements })
  const newIds = ['u', 'v', 'w', 'x', 'y'].map((name) => `${warehouse.id}-${name}`)
  const places = { warehouse, namespaceId: namespace.id, ids, newIds }
  return { real: database, model: model.databaseFor({ name: 'test' }), scheduler, ...places }
}

/** What one side answers, or how it refuses. */
async function outcomeOf(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call
  } catch (error) {
    return { refused: String(error) }
  }
}

async function onModel({ model, scheduler }: Twins, call: Call): Promise<unknown> {
  let isDone = false
  const outcome = outcomeOf(call(model)).finally(() => (isDone = true))
  await scheduler.runUntil(() => isDone)
  return outcome
}

type Call = (database: Database) => Promise<unknown>

const KEYS = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b']
const PROCESSES = ['p', 'q', 'r']
const HASHES = ['h1', 'h2', 'h3']
const BATCHES = ['x', 'y', 'z']

/** A call that the catalog makes, with values among which some fit and some do not. */
function randomCall(random: SeededRandom, both: Twins, nowMs: number): Call {
  const { warehouse, namespaceId, ids, newIds } = both
  const anyId = (): string => random.pick([...ids, ...newIds, 'gone'])
  const tableId = anyId()
  const ticket = { warehouseId: warehouse.id, key: random.pick(KEYS) }
  const processId = random.pick(PROCESSES)
  const swap = (id: string, nth: number): ((real: Database) => Promise<GroupSwap>) => {
    const isStale = random.chance(0.2)
    const events = Array.from({ length: 1 + random.below(2) }, (_, index) => ({
      kind: 'table-committed' as const,
      payload: `{"nth":${nth + index}}`,
    }))
    const landed = {
      requestHash: random.pick(HASHES),
      snapshotIds: [BigInt(1 + random.below(4))],
      forgetSnapshotIds: [BigInt(1 + random.below(4))],
    }
    const batch = {
      batchId: random.pick(BATCHES),
      requestHash: random.pick(HASHES),
      snapshotId: BigInt(random.below(9)),
      expiresAtMs: nowMs + 5,
    }
    const hasBatch = random.chance(0.5)
    const idempotency = random.chance(0.4) ? [{ ...ticket, outcome: { status: 204 } }] : []
    return async (side) => {
      const pointer = (await readPointers(side, [id])).get(id)?.metadataLocation ?? 'none'
      const named = await Promise.all(
        TABLES.map((name) => findTable(side, { warehouseId: warehouse.id, levels: ['ns'], name })),
      )
      const found = named.find((one) => one?.id === id)
      return {
        tableId: id,
        expected: isStale ? 'elsewhere' : pointer,
        next: `m${nth}`,
        tableUuid: found?.tableUuid ?? 'u',
        location: found?.location ?? 'l',
        nowMs,
        events,
        landed: [landed],
        idempotency,
        batches: hasBatch ? [batch] : [],
      }
    }
  }
  const setStep = (id: string): ((side: Database) => Promise<TableStep>) => {
    const [one, isHold] = [swap(id, nowMs), random.chance(0.3)]
    return async (side) => {
      const { events, landed, ...moved } = await one(side)
      const [event, first] = [events[0], landed[0]]
      if (isHold || event === undefined) {
        return { change: 'hold', tableId: id, expected: moved.expected }
      }
      return { ...moved, change: 'swap', event, landed: first }
    }
  }
  const mayHaveKey = () =>
    random.chance(0.3) ? { idempotency: { ...ticket, outcome: { status: 204 } } } : {}
  const calls: readonly (() => Call)[] = [
    () => {
      const drop = {
        ...{ tableId, purgeRequested: random.chance(0.5), nowMs, ...mayHaveKey() },
        event: { kind: 'table-dropped' as const, payload: '{}' },
      }
      return (side) => dropTable(side, drop)
    },
    () => {
      const id = random.pick([...ids, ...newIds])
      const location = `${warehouse.location}/${random.pick(['l1', 'l1/inside', 'l2', 'l3'])}`
      const table = {
        ...{ id, namespaceId, warehouseId: warehouse.id, name: random.pick(TABLES) },
        ...{ tableUuid: `u${nowMs}`, location, metadataLocation: `c${nowMs}`, nowMs },
        ...{ event: { kind: 'table-created' as const, payload: '{}' }, ...mayHaveKey() },
        extraRoots: [],
      }
      // Ids are never used twice at a time.
      return async (side) => {
        const isLive = (await readPointers(side, [id])).get(id)?.isDropped === false
        return isLive ? 'live' : createTable(side, table)
      }
    },
    () => {
      const [a, b] = [setStep(random.pick(ids)), setStep(random.pick(newIds))]
      const key = mayHaveKey()
      return async (side) => {
        const steps = [await a(side), await b(side)]
        if (steps.every(({ change }) => change === 'hold')) return 'nothing'
        return commitTables(side, { steps, nowMs, ...key })
      }
    },
    () => (side) => findNamespace(side, warehouse.id, ['ns']),
    () => {
      const location = `${warehouse.location}/${random.pick(['l1', 'l2/inside'])}`
      return async (side) => {
        const near = await findTablesNear(side, { warehouseId: warehouse.id, location })
        return near.map(({ id }) => id).sort()
      }
    },
    () => {
      const one = swap(tableId, nowMs)
      return async (side) => swapMany(side, [await one(side)])
    },
    () => {
      const [first = '', second = ''] = ids
      const [a, b] = [swap(first, nowMs), swap(second, nowMs + 1)]
      return async (side) => {
        const [one, other] = [await a(side), await b(side)]
        // One key belongs to one of them.
        return swapMany(side, [one, { ...other, idempotency: [] }])
      }
    },
    () => {
      const reservation = {
        ...ticket,
        operation: random.pick(['o1', 'o1', 'o2']),
        requestHash: random.pick(HASHES),
        nowMs,
        leaseMs: 20,
        lifetimeMs: 60,
      }
      return (side) => reserveIdempotencyKey(side, reservation)
    },
    () => (side) => finishIdempotencyKey(side, ticket, { status: 409, body: '{}' }),
    () => (side) => releaseIdempotencyKey(side, ticket),
    () => (side) => askForTurn(side, { tableId, processId }),
    () => (side) => readTurn(side, tableId),
    () => (side) => passTurn(side, { tableId, processId }),
    () => async (side) => {
      const seen = await readTurn(side, tableId)
      return seen && seizeTurn(side, { tableId, processId, seen })
    },
    () => {
      const requestHash = random.pick(HASHES)
      return (side) => findLandedCommit(side, { tableId, requestHash })
    },
    () => async (side) => [...(await findBatches(side, { tableId, batchIds: BATCHES }))].sort(),
    () => async (side) => [...(await readPointers(side, [...ids, ...newIds, 'gone']))].sort(),
    () => (side) => findDroppedTable(side, tableId),
    () => (side) => findWarehouse(side, warehouse.name),
    () => {
      const names = [random.pick(TABLES), random.pick(TABLES), 'none']
      return (side) => {
        const finder = new TableFinder(side)
        return Promise.all(
          names.map((name) => finder.find({ warehouseId: warehouse.id, levels: ['ns'], name })),
        )
      }
    },
  ]
  return random.pick(calls)()
}

describe('the model of the database', () => {
  it.each([1, 2, 3])('answers like the database, call by call (seed %i)', async (seed) => {
    const both = await twins(seed)
    const random = seededRandom(seed)
    const answers = new Set<string>()
    for (let count = 0; count < CALLS; count += 1) {
      const call = randomCall(random, both, NOW_MS + count)
      const expected = await outcomeOf(call(both.real))
      const found = await onModel(both, call)
      expect(found, `call ${count}`).toEqual(expected)
      answers.add(JSON.stringify(expected, (_, value) => (typeof value === 'bigint' ? 1 : value)))
    }
    // The sequences reach states that differ.
    expect(answers.size).toBeGreaterThan(CALLS / 8)
    expect(await feedOf(both, (call) => onModel(both, call))).toEqual(
      await feedOf(both, (call) => call(both.real)),
    )
  })

  it('refuses a statement that it does not know, and says which', async () => {
    const both = await twins(9)
    const outcome = await onModel(both, (side) => side.query('select now()'))
    expect(outcome).toMatchObject({ refused: expect.stringContaining('select now()') as string })
  })

  it('learns every statement of a function in its order', async () => {
    const texts = await learnStatements((side) => readPointers(side, ['t']), 2)
    expect(texts.map(({ text }) => text.trim().slice(0, 8))).toEqual(['select 1', 'select i'])
  })
})

/** What happened to the tables since both began, in the order of the feed, two at a time. */
async function feedOf(
  { ids, newIds }: Twins,
  run: (call: Call) => Promise<unknown>,
): Promise<readonly unknown[]> {
  const events: unknown[] = []
  let after: string | undefined
  for (;;) {
    // `as`: the feed is read to its end and nothing is pruned.
    const page = (await run((side) => readFeed(side, { after, limit: 2 }))) as Extract<
      Awaited<ReturnType<typeof readFeed>>,
      { readonly outcome: 'read' }
    >
    if (page.events.length === 0 && page.isAtEnd) return events
    after = page.cursor
    for (const { tableId = '', eventNumber, eventId, kind, levels, name, payload } of page.events) {
      const isNews = newIds.includes(tableId) || (ids.includes(tableId) && eventNumber > 1n)
      if (isNews) events.push({ tableId, eventNumber, eventId, kind, levels, name, payload })
    }
  }
}
