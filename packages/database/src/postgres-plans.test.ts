import {
  openPostgresTestDatabase,
  type PostgresTestDatabase,
} from '@timelake/testing/open-postgres-test-database'
import { testServices } from '@timelake/testing/test-services'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { event, newNamespace, newTable, newWarehouse, NOW_MS } from './contract/contract-world.ts'
import { findTable, findTableById, findTablesNear } from './find-tables.ts'
import { swapMany } from './swap-many.ts'
import { swapMetadataLocation } from './swap-metadata-location.ts'
import { TableFinder } from './table-finder.ts'
import { overwriteTable } from './tables.ts'

const isThere = testServices().databaseUrl !== undefined

/** The columns by which an index of the pointers must be entered; the first alone would read a whole warehouse. */
const ENTRIES: Readonly<Record<string, RegExp>> = {
  catalog_table_location: /\bwarehouse_id = .*\blocation (=|>=)/,
  catalog_table_namespace_id_name_key: /\bnamespace_id = .*\bname = /,
  catalog_table_pkey: /\bid = /,
  namespace_warehouse_id_levels_key: /\bwarehouse_id = .*\blevels = /,
  namespace_pkey: /\bid = /,
}

// Plans are made once, here over tables that are as good as empty, and used when there are a hundred thousand.
describe.skipIf(!isThere)('plans on PostgreSQL (skipped without TEST_DATABASE_URL)', () => {
  let database: PostgresTestDatabase

  beforeAll(async () => {
    database = await openPostgresTestDatabase({ connectionsMax: 1 })
  })

  afterAll(() => database.close())

  const plan = async (name: string, parameterCount: number): Promise<string> => {
    const nulls = Array.from({ length: parameterCount }, () => 'null').join()
    const lines = await database.query<Record<string, string>>(
      `explain execute "${name}" (${nulls})`,
    )
    return lines.map((line) => line['QUERY PLAN']).join('\n')
  }

  it('look every pointer up by the whole of an index', async () => {
    const warehouse = await newWarehouse(database)
    const namespace = await newNamespace(database, warehouse)
    const table = await newTable(database, namespace)
    const key = { warehouseId: warehouse.id, levels: ['ns'], name: 't' }
    await findTable(database, key)
    await findTableById(database, table.id)
    await findTablesNear(database, { ...key, location: table.location })
    const finder = new TableFinder(database)
    await Promise.all([finder.find(key), finder.find(key)])
    const swap = { ...table, tableId: table.id, next: 'm1', event: event('table-committed') }
    await swapMetadataLocation(database, { ...swap, expected: table.metadataLocation })
    const group = { ...swap, events: [swap.event], landed: [], idempotency: [], batches: [] }
    await newTable(database, namespace, 'u').then((other) =>
      swapMany(database, [
        { ...group, expected: 'm1', next: 'm2' },
        { ...group, tableId: other.id, location: other.location, expected: other.metadataLocation },
      ]),
    )
    const elsewhere = { expected: 'm2', location: `${table.location}/other` }
    await swapMetadataLocation(database, { ...swap, ...elsewhere })
    const overwrite = { ...table, tableId: table.id, nowMs: NOW_MS }
    await overwriteTable(database, { ...overwrite, event: event('table-registered') })
    // One page holds everything: reading all of it would look cheapest.
    await database.runScript('analyze')
    const statements = await database.query<{ name: string; count: number }>(
      `select name, cardinality(parameter_types) as count from pg_prepared_statements
       where statement like '%catalog_table%' and statement not like '%pg_prepared_statements%'`,
    )
    expect(statements.length).toBeGreaterThanOrEqual(8)
    for (const { name, count } of statements) {
      const text = await plan(name, count)
      expect(text).not.toMatch(/Seq Scan on (catalog_table|namespace|outbox_event|idempotency_key)/)
      for (const [, index = '', condition = ''] of text.matchAll(/using (\w+) on .*\n(.*)/g)) {
        expect(`${index}: ${condition}`).toMatch(ENTRIES[index] ?? /Index Cond/)
      }
    }
  })
})
