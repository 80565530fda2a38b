import { DatabaseUnavailableError } from '@timelake/database/database-errors'
import type { Database } from '@timelake/database/sql-session'
import { isSwapStatement } from '@timelake/database/swap-statement'
import { testServices } from '@timelake/testing/test-services'
import { readManifestList } from '@timelake/iceberg/manifest/read-manifest-list'
import { decodeLoadTableResult } from '@timelake/iceberg/rest/load-table-json'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'

const isWithPostgres = testServices().databaseUrl !== undefined

describe.skipIf(!isWithPostgres)('a swap whose answer is lost while others commit on', () => {
  let first: TestCatalog
  let second: TestCatalog
  /** Called once, after the next swap of the second catalog was applied and before its answer is lost. */
  let whenLost: (() => Promise<void>) | undefined

  beforeAll(async () => {
    first = await openTestCatalog({ on: 'postgres' })
    second = await openTestCatalog({ sharing: first, wrapDatabase: losesAnswer })
    await makeNamespace(first, ['ns'])
  })
  afterAll(async () => {
    await second.stop()
    await first.stop()
  })

  function losesAnswer(database: Database): Database {
    return {
      ...database,
      query: async <Row>(text: string, params?: readonly unknown[]) => {
        const rows = await database.query<Row>(text, params)
        const then = whenLost
        if (!isSwapStatement(text) || then === undefined) return rows
        whenLost = undefined
        await then()
        throw new DatabaseUnavailableError('connection lost')
      },
      runScript: (text) => database.runScript(text),
      transaction: (run) => database.transaction(run),
      close: () => database.close(),
    }
  }

  it('I13 keeps the files of a commit that landed, however short the metadata log is', async () => {
    const properties = { 'write.metadata.previous-versions-max': '1' }
    const { path, location } = await makeTable(first, {
      levels: ['ns'],
      name: 't',
      more: { properties },
    })
    whenLost = async () => {
      for (const value of ['1', '2', '3']) {
        const updates = [{ action: 'set-properties', updates: { value } }]
        const answer = await first.call('POST', path, { body: { updates } })
        expect(answer.status, answer.text).toBe(200)
      }
    }
    const file = {
      content: 'data',
      'file-path': `${location}/data/a.parquet`,
      'file-format': 'PARQUET',
      'spec-id': 0n,
      partition: [],
      'file-size-in-bytes': 10n,
      'record-count': 1n,
    }
    const body = { 'batch-id': 'b', 'data-files': [file] }
    const appends = `${path.replace('/v1/', '/lake/v1/')}/appends`
    const answer = await second.call('POST', appends, { body })
    expect(answer.status, answer.text).toBe(200)
    const { metadata } = decodeLoadTableResult((await first.call('GET', path)).text)
    const [snapshot, ...others] = metadata.snapshots
    expect(others).toEqual([])
    const list = await first.store.get(snapshot?.manifestList ?? '')
    for (const { manifestPath } of readManifestList(list)) {
      expect(await first.store.stat(manifestPath)).toBeDefined()
    }
  })
})
