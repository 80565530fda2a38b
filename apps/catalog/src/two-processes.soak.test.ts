import { expect, it } from 'vitest'
import { alternateCommits } from './alternate-commits.ts'
import { describeOnPostgres } from './on-each-database.ts'
import { openTestCatalog } from './open-test-catalog.ts'
import { makeNamespace } from './test-tables.ts'

const COMMITS = 10_000

describeOnPostgres('two processes on one database', () => {
  it('I9 commits in turns, ten thousand times, and every next load of the other is fresh', async () => {
    const first = await openTestCatalog({ on: 'postgres' })
    const second = await openTestCatalog({ sharing: first })
    await makeNamespace(first, ['ns'])
    await alternateCommits([first, second], { levels: ['ns'], name: 't', commits: COMMITS })
    const [row] = await first.database.query<{ version: bigint }>(
      'select version from catalog_table',
    )
    expect(row?.version).toBe(BigInt(COMMITS))
    await second.stop()
    await first.stop()
  }, 1_800_000)
})
