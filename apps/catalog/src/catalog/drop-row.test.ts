import { DatabaseUnavailableError } from '@timelake/database/database-errors'
import { findDroppedTable, requestPurge } from '@timelake/database/dropped-tables'
import { findTable } from '@timelake/database/find-tables'
import type { Database } from '@timelake/database/sql-session'
import { dropTable } from '@timelake/database/tables'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeOnEachDatabase } from '../on-each-database.ts'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { errorOf } from '../test-json.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'

describeOnEachDatabase('a drop whose answer is lost', (on) => {
  let catalog: TestCatalog
  /** What happens to the catalog's next transaction, before its answer is lost. */
  let whenLost: ((apply: () => Promise<unknown>) => Promise<unknown>) | undefined
  beforeAll(async () => {
    catalog = await openTestCatalog({ on, wrapDatabase: losesAnswer })
    await makeNamespace(catalog, ['ns'])
  })
  afterAll(() => catalog.stop())

  function losesAnswer(database: Database): Database {
    return {
      query: (text, params) => database.query(text, params),
      runScript: (text) => database.runScript(text),
      async transaction(run) {
        const lose = whenLost
        if (lose === undefined) return database.transaction(run)
        whenLost = undefined
        await lose(() => database.transaction(run))
        throw new DatabaseUnavailableError('connection lost')
      },
      close: () => database.close(),
    }
  }

  async function makeLive(name: string) {
    const { path } = await makeTable(catalog, { levels: ['ns'], name })
    const key = { warehouseId: catalog.warehouse.id, levels: ['ns'], name }
    return { path, tableId: (await findTable(catalog.database, key))?.id ?? '' }
  }
  const drop = (path: string, purgeRequested: boolean) =>
    catalog.call('DELETE', `${path}?purgeRequested=${purgeRequested}`)
  const dropsOf = (tableId: string) =>
    catalog.database.query(
      `select seq from outbox_event where table_id = $1 and kind = 'table-dropped'`,
      [tableId],
    )

  it.each([
    { what: 'at another time', name: 'a', wish: true, othersWish: true, laterMs: 1 },
    { what: 'at the same time with a purge', name: 'b', wish: false, othersWish: true, laterMs: 0 },
    { what: 'at the same time without one', name: 'c', wish: true, othersWish: false, laterMs: 0 },
  ])('is refused when somebody else dropped the table $what', async (row) => {
    const { name, wish, othersWish, laterMs } = row
    const { path, tableId } = await makeLive(name)
    const nowMs = catalog.clock.nowMs() + laterMs
    const event = { kind: 'table-dropped', payload: '{}' } as const
    const others = { tableId, purgeRequested: othersWish, nowMs, event }
    whenLost = () => dropTable(catalog.database, others)
    const answer = await drop(path, wish)
    expect(answer.status, answer.text).toBe(404)
    expect(errorOf(answer).type).toBe('NoSuchTableException')
    const kept = { purgeRequested: othersWish, droppedAtMs: nowMs }
    expect(await findDroppedTable(catalog.database, tableId)).toMatchObject(kept)
    expect(await dropsOf(tableId)).toHaveLength(1)
  })

  it('is acknowledged although somebody has asked for a purge since', async () => {
    const { path, tableId } = await makeLive('d')
    const nowMs = catalog.clock.nowMs() + 1
    const purge = { tableId, nowMs, jobKind: 'purge-table', dueAtMs: nowMs, reason: 'asked' }
    whenLost = async (apply) => {
      await apply()
      expect(await requestPurge(catalog.database, purge)).toBe('requested')
    }
    const answer = await drop(path, false)
    expect(answer.status, answer.text).toBe(204)
    expect(await dropsOf(tableId)).toHaveLength(1)
  })
})
