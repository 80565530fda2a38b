import { expect, it } from 'vitest'
import { testServices } from '@timelake/testing/test-services'
import { openTestCatalog } from './open-test-catalog.ts'
import { SCHEMA } from './test-bodies.ts'
import { errorOf } from './test-json.ts'
import { makeNamespace, makeTable } from './test-tables.ts'

const HAS_POSTGRES = testServices().databaseUrl !== undefined

it.skipIf(!HAS_POSTGRES)(
  'I15 a start records the folders of tables that came without word of them (skipped without TEST_DATABASE_URL)',
  async () => {
    const catalog = await openTestCatalog({ on: 'postgres' })
    await makeNamespace(catalog, ['ns'])
    const data = `${catalog.warehouse.location}/data`
    const place = {
      levels: ['ns'],
      name: 'owner',
      more: { properties: { 'write.data.path': data } },
    }
    await makeTable(catalog, place)
    const lost = await makeTable(catalog, { levels: ['ns'], name: 'lost' })
    const view = {
      body: { name: 't', schema: SCHEMA, location: `${data}/t`, 'stage-create': true },
    }
    const stage = () => catalog.call('POST', '/v1/main/namespaces/ns/tables', view)
    expect((await stage()).status).toBe(400)
    // As a recovery leaves them.
    await catalog.database.query('delete from table_root')
    await catalog.database.query(`update catalog_table set extra_roots = 'unknown'`)
    await catalog.store.delete(lost.metadataLocation)
    expect((await stage()).status).toBe(200)
    const next = await openTestCatalog({ sharing: catalog, config: { isOnlyWriter: false } })
    await expect.poll(async () => (await stage()).status).toBe(400)
    expect(errorOf(await stage()).message).toContain('overlaps')
    await next.stop()
    const states = await catalog.database.query(
      'select name, extra_roots from catalog_table order by name',
    )
    expect(states).toEqual([
      { name: 'lost', extra_roots: 'unknown' },
      { name: 'owner', extra_roots: 'some' },
    ])
    expect(next.log.join()).toContain('cannot tell which folders a table has')
    await catalog.stop()
  },
)
