import { openPostgresDatabase } from '@timelake/database/open-postgres-database'
import type { Database } from '@timelake/database/sql-session'
import { decodeLoadTableResult } from '@timelake/iceberg/rest/load-table-json'
import { openTcpProxy, type TcpProxy } from '@timelake/testing/open-tcp-proxy'
import { waitFor } from '@timelake/testing/wait-for'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { describeOnPostgres } from './on-each-database.ts'
import { openTestCatalog, type TestCatalog } from './open-test-catalog.ts'
import { appendBody, SCHEMA } from './test-bodies.ts'
import { countFiles } from './test-files.ts'
import { errorOf, textAt } from './test-json.ts'
import { makeNamespace, makeTable, type TestTable } from './test-tables.ts'
import { changeOf, setProperty, transact } from './test-transactions.ts'

const WRITERS = 6
const TIMEOUT_MS = 20_000
const LOCK_TIMEOUT_MS = 500
const CONNECT_TIMEOUT_MS = 1_000

describeOnPostgres('a database that is lost', () => {
  /** Straight to the database, to look at what is there. */
  let direct: TestCatalog
  /** Behind a proxy that loses what it is told to. */
  let catalog: TestCatalog
  let proxy: TcpProxy
  let behind: Database

  beforeAll(async () => {
    direct = await openTestCatalog({ on: 'postgres' })
    const url = new URL(direct.databaseUrl ?? '')
    proxy = await openTcpProxy({ host: url.hostname, port: Number(url.port || 5432) })
    url.hostname = '127.0.0.1'
    url.port = String(proxy.port)
    behind = await openPostgresDatabase({
      url: url.href,
      connectionsMax: 4,
      lockTimeoutMs: LOCK_TIMEOUT_MS,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
    })
    catalog = await openTestCatalog({ sharing: direct, wrapDatabase: () => behind })
    await makeNamespace(direct, ['ns'])
  })
  afterEach(() => proxy.setMode('pass'))
  afterAll(async () => {
    await catalog.stop()
    await behind.close()
    await proxy.close()
    await direct.stop()
  })

  const load = async ({ path }: TestTable) =>
    decodeLoadTableResult((await direct.call('GET', path)).text).metadata

  /** Lets the mode strike at the statement that changes something, whichever connection it takes. */
  async function strikeAtChange(mode: 'lose-requests' | 'lose-answers' | 'delay-requests') {
    const query = behind.query.bind(behind)
    const transaction = behind.transaction.bind(behind)
    const restore = () => Object.assign(behind, { query, transaction })
    const arm = () => {
      restore()
      proxy.setMode(mode)
    }
    const armed: Pick<Database, 'query' | 'transaction'> = {
      query: (text, params) => {
        if (/update catalog_table/.test(text)) arm()
        return query(text, params)
      },
      transaction: (run) =>
        transaction(async (session) => {
          const value = await run(session)
          // What comes next is the COMMIT.
          arm()
          return value
        }),
    }
    Object.assign(behind, armed)
    return restore
  }

  it.each(['lose-requests', 'lose-answers', 'delay-requests'] as const)(
    'B051 I1 a swap is applied once and its file is there: %s',
    async (mode) => {
      const table = await makeTable(direct, { levels: ['ns'], name: `swap-${mode}` })
      expect(
        (await catalog.call('POST', table.path, { body: setProperty('warm', '1') })).status,
      ).toBe(200)
      const struck = proxy.struckCount
      const restore = await strikeAtChange(mode)
      const answer = await catalog.call('POST', table.path, { body: setProperty('k', 'v') })
      restore()
      expect(proxy.struckCount).toBe(struck + 1)
      expect(answer.status, answer.text).toBe(200)
      const after = await direct.call('GET', table.path)
      expect(after.text).toBe(answer.text)
      // A statement that was on its way all the time finds that it comes too late.
      await proxy.release()
      expect((await direct.call('GET', table.path)).text).toBe(answer.text)
      expect(countFiles(table.location.replace('file://', ''))).toBe(3)
      const rows = await direct.database.query<{ version: bigint }>(
        'select version from catalog_table where table_uuid = $1',
        [table.uuid],
      )
      expect(rows).toEqual([{ version: 2n }])
    },
  )

  it.each(['lose-requests', 'lose-answers', 'delay-requests'] as const)(
    'B051 I1 the COMMIT of a transaction is decided once, for all tables: %s',
    async (mode) => {
      const names = ['a', 'b', 'c'].map((name) => `${name}-${mode}`)
      const tables: TestTable[] = []
      for (const name of names) tables.push(await makeTable(direct, { levels: ['ns'], name }))
      const struck = proxy.struckCount
      const restore = await strikeAtChange(mode)
      const changes = names.map((name) => changeOf(['ns'], name, setProperty('k', 'v')))
      const answer = await transact(catalog, changes)
      restore()
      expect(proxy.struckCount).toBe(struck + 1)
      // A COMMIT on its way holds its rows until it arrives, which is longer than anybody waits.
      expect(answer.status, answer.text).toBe(mode === 'delay-requests' ? 500 : 204)
      await proxy.release()
      for (const table of tables) {
        const { properties, metadataLog } = await load(table)
        expect(properties['k']).toBe('v')
        expect(metadataLog).toHaveLength(1)
        expect((await direct.call('GET', table.path)).status).toBe(200)
      }
    },
    60_000,
  )

  it('I1 loses no acknowledged commit, answers in the envelope, says why it is not ready, and recovers', async () => {
    const counts = { acknowledged: 0, refused: 0, unknown: 0 }
    let isOver = false
    const writers = Array.from({ length: WRITERS }, async (_, writer) => {
      const table = await makeTable(direct, { levels: ['ns'], name: `load-${writer}` })
      let id = 0n
      while (!isOver) {
        id += 1n
        const body = appendBody({
          id,
          sequenceNumber: id,
          location: table.location,
          ...(id === 1n ? {} : { parent: id - 1n }),
        })
        // Sent again until it is acknowledged, as after a lost answer: it must be applied exactly once.
        for (;;) {
          const answer = await catalog.call('POST', table.path, { body })
          if (answer.status === 200) break
          const { code, type } = errorOf(answer)
          expect(code).toBe(answer.status)
          if (answer.status === 503) {
            expect(answer.headers['retry-after']).toBeDefined()
            counts.refused += 1
          } else {
            expect([answer.status, type]).toEqual([500, 'CommitStateUnknownException'])
            counts.unknown += 1
          }
        }
        counts.acknowledged += 1
      }
      return { table, last: id }
    })
    const acknowledgedMore = async (more: number) => {
      const before = counts.acknowledged
      await waitFor(() => counts.acknowledged >= before + more, { timeoutMs: TIMEOUT_MS })
    }
    await acknowledgedMore(30)
    for (let outage = 0; outage < 3; outage += 1) {
      proxy.setMode('refuse')
      const { refused } = counts
      await waitFor(() => counts.refused >= refused + 12, { timeoutMs: TIMEOUT_MS })
      const ready = await catalog.call('GET', '/health/ready')
      expect(ready.status).toBe(503)
      expect(textAt(ready.json, 'reason')).toContain('database')
      expect((await catalog.call('GET', '/health/live')).status).toBe(200)
      const created = await catalog.call('POST', '/v1/main/namespaces/ns/tables', {
        body: { name: `during-${outage}`, schema: SCHEMA },
      })
      expect(created.status).toBe(503)
      proxy.setMode('pass')
      await acknowledgedMore(30)
      expect((await catalog.call('GET', '/health/ready')).status).toBe(200)
    }
    isOver = true
    for (const { table, last } of await Promise.all(writers)) {
      const { snapshots, currentSnapshotId, lastSequenceNumber } = await load(table)
      expect(snapshots.map(({ snapshotId }) => snapshotId)).toEqual(
        Array.from({ length: Number(last) }, (_, at) => BigInt(at + 1)),
      )
      expect([currentSnapshotId, lastSequenceNumber]).toEqual([last, last])
    }
    expect(counts.refused).toBeGreaterThan(30)
  }, 120_000)
})
