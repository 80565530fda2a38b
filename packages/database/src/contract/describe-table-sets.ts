import { describe, expect, it } from 'vitest'
import { commitTables, type TableStep } from '../commit-tables.ts'
import { IdempotencyKeyLostError, LocationTakenError } from '../database-errors.ts'
import { findTable, findTableById } from '../find-tables.ts'
import { reserveIdempotencyKey } from '../idempotency.ts'
import { findLandedCommit } from '../landed-commits.ts'
import { dropNamespace } from '../namespaces.ts'
import { swapMetadataLocation } from '../swap-metadata-location.ts'
import { dropTable, type NewTable } from '../tables.ts'
import {
  event,
  eventsOf,
  newId,
  newNamespace,
  newTable,
  newWarehouse,
  NOW_MS,
  tableIn,
  type UseDatabase,
} from './contract-world.ts'

const TABLES = 5

/** What commit-tables.ts promises. */
export function describeTableSets(useDatabase: UseDatabase): void {
  const world = async () => {
    const database = useDatabase()
    const warehouse = await newWarehouse(database)
    const namespace = await newNamespace(database, warehouse)
    const tables: NewTable[] = []
    for (let i = 0; i < TABLES; i++) tables.push(await newTable(database, namespace, `t${i}`))
    const locations = async () =>
      Promise.all(
        tables.map(async ({ id }) => (await findTableById(database, id))?.metadataLocation),
      )
    const before = tables.map(({ metadataLocation }) => metadataLocation)
    return { database, warehouse, namespace, tables, before, locations }
  }
  const swapOf = (table: NewTable, next: string): TableStep & { change: 'swap' } => ({
    change: 'swap',
    tableId: table.id,
    expected: table.metadataLocation,
    next,
    tableUuid: table.tableUuid,
    location: table.location,
    event: event('table-committed', `{"next":${JSON.stringify(next)}}`),
  })
  const createOf = (table: NewTable): TableStep => ({ change: 'create', ...table })
  const all = (tables: readonly NewTable[], next: string) =>
    tables.map((table) => swapOf(table, next))

  describe('committing several tables', () => {
    it('moves every pointer, makes every table and writes every event', async () => {
      const { database, namespace, tables, locations } = await world()
      const made = tableIn(namespace, 'made')
      const steps = [createOf(made), ...all(tables, 'm1').reverse()]
      expect(await commitTables(database, { steps, nowMs: NOW_MS })).toEqual({
        outcome: 'committed',
      })
      expect(await locations()).toEqual(tables.map(() => 'm1'))
      expect(await findTableById(database, made.id)).toMatchObject({ name: 'made', version: 0n })
      for (const { id } of tables) {
        expect(await eventsOf(database, id)).toMatchObject([
          { event_number: 1n },
          { event_number: 2n, kind: 'table-committed' },
        ])
      }
      expect(await eventsOf(database, made.id)).toMatchObject([{ kind: 'table-created' }])
    })

    it.each([0, 1, 2, 3, 4])('I1 changes nothing when table %i has moved', async (index) => {
      const { database, namespace, tables, before, locations } = await world()
      const made = tableIn(namespace, 'made')
      const landed = { requestHash: 'h', snapshotIds: [5n], forgetSnapshotIds: [] }
      const swaps = all(tables, 'm1').map((step, i) => ({
        ...step,
        landed,
        ...(i === index ? { expected: 'elsewhere' } : {}),
      }))
      const outcome = await commitTables(database, {
        steps: [...swaps, createOf(made)],
        nowMs: NOW_MS,
      })
      expect(outcome).toEqual({ outcome: 'stale', index })
      expect(await locations()).toEqual(before)
      expect(await findTableById(database, made.id)).toBeUndefined()
      for (const { id: tableId } of tables) {
        expect(await eventsOf(database, tableId)).toHaveLength(1)
        const found = await findLandedCommit(database, { tableId, requestHash: 'h' })
        expect(found).toBeUndefined()
      }
    })

    it('I1 changes nothing when a table or a namespace is gone, or a name is taken', async () => {
      const { database, warehouse, namespace, tables, before, locations } = await world()
      const gone = await newTable(database, namespace, 'gone')
      const drop = { tableId: gone.id, purgeRequested: false, nowMs: NOW_MS }
      await dropTable(database, { ...drop, event: event('table-dropped') })
      const empty = await newNamespace(database, warehouse, ['empty'])
      const inEmpty = createOf(tableIn(empty))
      const dropEmpty = { namespaceId: empty.id, nowMs: NOW_MS, event: event('namespace-dropped') }
      await dropNamespace(database, dropEmpty)
      const cases: (readonly [TableStep, string])[] = [
        [swapOf(gone, 'm1'), 'missing'],
        [inEmpty, 'namespace-missing'],
        [createOf(tableIn(namespace, 't3')), 'exists'],
      ]
      for (const [step, outcome] of cases) {
        const steps = [...all(tables, 'm1'), step]
        const verdict = await commitTables(database, { steps, nowMs: NOW_MS })
        expect(verdict).toEqual({ outcome, index: TABLES })
        expect(await locations()).toEqual(before)
      }
    })

    it('I3 changes nothing when a table that it only looked at has moved or is gone', async () => {
      const { database, namespace, tables, before, locations } = await world()
      const seen = await newTable(database, namespace, 'seen')
      const hold = { change: 'hold', tableId: seen.id, expected: seen.metadataLocation } as const
      const steps = [hold, ...all(tables, 'm1')]
      const moved = { ...hold, expected: 'elsewhere' }
      const stale = { steps: [moved, ...all(tables, 'm1')], nowMs: NOW_MS }
      expect(await commitTables(database, stale)).toEqual({ outcome: 'stale', index: 0 })
      expect(await locations()).toEqual(before)
      expect(await commitTables(database, { steps, nowMs: NOW_MS })).toEqual({
        outcome: 'committed',
      })
      expect(await eventsOf(database, seen.id)).toHaveLength(1)
      const drop = { tableId: seen.id, purgeRequested: false, nowMs: NOW_MS }
      await dropTable(database, { ...drop, event: event('table-dropped') })
      const later = [hold, ...tables.map((table) => ({ ...swapOf(table, 'm2'), expected: 'm1' }))]
      expect(await commitTables(database, { steps: later, nowMs: NOW_MS })).toEqual({
        outcome: 'missing',
        index: 0,
      })
    })

    it('I15 changes nothing when two new tables would lie inside each other', async () => {
      const { database, namespace, tables, before, locations } = await world()
      const outer = tableIn(namespace, 'outer')
      const inner = { ...tableIn(namespace, 'inner'), location: `${outer.location}/inner` }
      const steps = [...all(tables, 'm1'), createOf(outer), createOf(inner)]
      const failed = commitTables(database, { steps, nowMs: NOW_MS })
      await expect(failed).rejects.toThrow(LocationTakenError)
      expect(await locations()).toEqual(before)
      expect(await findTableById(database, outer.id)).toBeUndefined()
    })

    it('I1 changes nothing when the process fails between two steps', async () => {
      const { database, tables, before, locations } = await world()
      let steps = 0
      const failed = commitTables(database, {
        steps: all(tables, 'm1'),
        nowMs: NOW_MS,
        betweenSteps: () => {
          steps += 1
          if (steps === TABLES - 1) throw new Error('power is out')
        },
      })
      await expect(failed).rejects.toThrow('power is out')
      expect(await locations()).toEqual(before)
      expect(await commitTables(database, { steps: all(tables, 'm1'), nowMs: NOW_MS })).toEqual({
        outcome: 'committed',
      })
    })

    it('I6 stores the outcome of the key with the set, and only with the set', async () => {
      const { database, warehouse, tables, before, locations } = await world()
      const reservation = {
        warehouseId: warehouse.id,
        key: newId(),
        operation: 'commitTransaction',
        requestHash: 'hash',
        nowMs: NOW_MS,
        leaseMs: 1000,
        lifetimeMs: 10_000,
      }
      await reserveIdempotencyKey(database, reservation)
      const idempotency = { ...reservation, outcome: { status: 204 } }
      const steps = all(tables, 'm1')
      const stale = steps.map((step, i) => (i === 4 ? { ...step, expected: 'elsewhere' } : step))
      const set = { nowMs: NOW_MS, idempotency }
      expect(await commitTables(database, { ...set, steps: stale })).toMatchObject({
        outcome: 'stale',
      })
      expect(await reserveIdempotencyKey(database, reservation)).toMatchObject({
        outcome: 'running',
      })
      expect(await locations()).toEqual(before)
      expect(await commitTables(database, { ...set, steps })).toEqual({ outcome: 'committed' })
      expect(await reserveIdempotencyKey(database, reservation)).toEqual({
        outcome: 'done',
        status: 204,
      })
      const again = steps.map((step) => ({ ...step, expected: 'm1', next: 'm2' }))
      const late = commitTables(database, { ...set, steps: again })
      await expect(late).rejects.toThrow(IdempotencyKeyLostError)
      expect(await locations()).toEqual(tables.map(() => 'm1'))
    })

    it('ends 50 pairs of sets in opposite orders, one of each pair with success', async () => {
      const { database, tables } = await world()
      for (let round = 0; round < 10; round++) {
        const expected =
          round === 0
            ? undefined
            : (await findTableById(database, tables[0]?.id ?? ''))?.metadataLocation
        const steps = (next: string) =>
          all(tables, next).map((step) => ({ ...step, expected: expected ?? step.expected }))
        const outcomes = await Promise.all(
          Array.from({ length: 5 }, (_, pair) => [
            commitTables(database, { steps: steps(`m${round}-${pair}a`), nowMs: NOW_MS }),
            commitTables(database, { steps: steps(`m${round}-${pair}b`).reverse(), nowMs: NOW_MS }),
          ]).flat(),
        )
        const names = outcomes.map(({ outcome }) => outcome)
        expect(names.filter((outcome) => outcome === 'committed')).toHaveLength(1)
        expect(names.filter((outcome) => outcome === 'stale')).toHaveLength(9)
      }
    })

    it('ends sets that make the same names in opposite orders', async () => {
      const { database, warehouse } = await world()
      const namespace = await newNamespace(database, warehouse, ['race'])
      for (let round = 0; round < 10; round++) {
        const names = [`a${round}`, `b${round}`, `c${round}`]
        const set = () => names.map((name) => createOf(tableIn(namespace, name)))
        const outcomes = await Promise.all([
          commitTables(database, { steps: set(), nowMs: NOW_MS }),
          commitTables(database, { steps: set().reverse(), nowMs: NOW_MS }),
        ])
        expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['committed', 'exists'])
        for (const name of names) {
          const found = await findTable(database, {
            warehouseId: warehouse.id,
            levels: ['race'],
            name,
          })
          expect(found).toBeDefined()
        }
      }
    })

    it('ends sets that race with single changes of their tables, without a half', async () => {
      const { database, tables, locations } = await world()
      const [first, , third] = tables
      if (first === undefined || third === undefined) throw new Error('no tables')
      const swap = ({ change, ...step }: TableStep & { change: 'swap' }) =>
        swapMetadataLocation(database, { ...step, nowMs: NOW_MS })
      const results = await Promise.all([
        swap(swapOf(third, 'single')),
        commitTables(database, { steps: all(tables, 'set'), nowMs: NOW_MS }),
        swap(swapOf(first, 'single')),
      ])
      const found = await locations()
      const isSet = found.map((location) => location === 'set')
      expect(new Set(isSet).size).toBe(1)
      expect(results[1].outcome).toBe(isSet[0] ? 'committed' : 'stale')
    })
  })
}
