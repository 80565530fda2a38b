import { afterAll, beforeAll, describe } from 'vitest'
import type { Database } from '../sql-session.ts'
import { describeAccess } from './describe-access.ts'
import { describeAppendBatches } from './describe-append-batches.ts'
import { describeCommits } from './describe-commits.ts'
import { describeDroppedTables } from './describe-dropped-tables.ts'
import { describeFeed } from './describe-feed.ts'
import { describeFinder } from './describe-finder.ts'
import { describeNameChanges } from './describe-name-changes.ts'
import { describeNamespaces } from './describe-namespaces.ts'
import { describeRaces, type UntilSomebodyWaits } from './describe-races.ts'
import { describeScanPlans } from './describe-scan-plans.ts'
import { describeSessions } from './describe-sessions.ts'
import { describeSwapBatches } from './describe-swap-batches.ts'
import { describeTableRoots } from './describe-table-roots.ts'
import { describeTableSets } from './describe-table-sets.ts'
import { describeTables } from './describe-tables.ts'
import { describeViews } from './describe-views.ts'
import { describeWarehouses } from './describe-warehouses.ts'
import { describeWebhooks } from './describe-webhooks.ts'
import { describeWork } from './describe-work.ts'

/**
 * What every database of this house promises, whatever is behind it. `open` gives a migrated database of the suite's
 * own; the suite closes it.
 */
export function describeDatabaseContract(
  name: string,
  open: () => Promise<Database>,
  untilSomebodyWaits: UntilSomebodyWaits = () => Promise.resolve(),
): void {
  describe(`the database contract: ${name}`, () => {
    let database: Database | undefined
    const useDatabase = () => {
      if (database === undefined) throw new Error('the database is used before it is open')
      return database
    }

    beforeAll(async () => {
      database = await open()
    })

    afterAll(() => database?.close())

    describeSessions(useDatabase)
    describeNamespaces(useDatabase)
    describeTables(useDatabase)
    describeTableRoots(useDatabase)
    describeViews(useDatabase)
    describeCommits(useDatabase)
    describeSwapBatches(useDatabase)
    describeAppendBatches(useDatabase)
    describeTableSets(useDatabase)
    describeDroppedTables(useDatabase)
    describeWarehouses(useDatabase)
    describeWebhooks(useDatabase)
    describeAccess(useDatabase)
    describeScanPlans(useDatabase)
    describeWork(useDatabase)
    describeFinder(useDatabase)
    describeNameChanges(useDatabase)
    describeFeed(useDatabase)
    describeRaces(useDatabase, untilSomebodyWaits)
  })
}
