import { openPostgresTestDatabase } from '@timelake/testing/open-postgres-test-database'
import { testServices } from '@timelake/testing/test-services'
import { waitFor } from '@timelake/testing/wait-for'
import { describe, expect, it } from 'vitest'
import { newNamespace, newTable, newWarehouse } from './contract/contract-world.ts'
import { readPointers } from './read-pointers.ts'

const isThere = testServices().databaseUrl !== undefined

describe.skipIf(!isThere)('reading pointers (skipped without TEST_DATABASE_URL)', () => {
  it('waits for a change that is under way, such as one whose connection was lost during its commit', async () => {
    const database = await openPostgresTestDatabase()
    const namespace = await newNamespace(database, await newWarehouse(database))
    const table = await newTable(database, namespace)
    let finish = (): void => {}
    const mayEnd = new Promise<void>((resolve) => (finish = resolve))
    let hasChanged = false
    const change = database.transaction(async (session) => {
      await session.query('update catalog_table set metadata_location = $1 where id = $2', [
        'm1',
        table.id,
      ])
      hasChanged = true
      await mayEnd
    })
    await waitFor(() => hasChanged, { timeoutMs: 5_000 })
    const plain = await database.query('select metadata_location from catalog_table')
    expect(plain).toEqual([{ metadata_location: table.metadataLocation }])
    let hasRead = false
    const read = readPointers(database, [table.id, 'unknown']).finally(() => (hasRead = true))
    await waitFor(
      async () => (await database.query(`select 1 from pg_locks where not granted`)).length === 1,
      { timeoutMs: 5_000 },
    )
    expect(hasRead).toBe(false)
    finish()
    await change
    expect(await read).toEqual(new Map([[table.id, { metadataLocation: 'm1', isDropped: false }]]))
    await database.close()
  })
})
