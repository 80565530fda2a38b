import { waitFor } from '@timelake/testing/wait-for'
import { describe, expect, it } from 'vitest'
import {
  type EventCursor,
  findNamedTables,
  FIRST_EVENT,
  listNamedNamespaces,
  nameChangesAfter,
} from '../name-changes.ts'
import { swapMetadataLocation } from '../swap-metadata-location.ts'
import { dropTable, renameTable } from '../tables.ts'
import {
  event,
  newNamespace,
  newTable,
  newWarehouse,
  NOW_MS,
  type UseDatabase,
} from './contract-world.ts'

const WAIT_MS_MAX = 10_000

/** What name-changes.ts promises. */
export function describeNameChanges(useDatabase: UseDatabase): void {
  describe('following the names', () => {
    it('passes every event of the warehouse once, in portions, and only tells what names something', async () => {
      const database = useDatabase()
      const warehouse = await newWarehouse(database)
      const other = await newWarehouse(database)
      const namespace = await newNamespace(database, warehouse)
      await newNamespace(database, other)
      const table = await newTable(database, namespace)
      const payload = (next: string) =>
        JSON.stringify({
          'metadata-location': next,
          'previous-metadata-location': table.metadataLocation,
        })
      const commit = (next: string, expected = table.metadataLocation) =>
        swapMetadataLocation(database, {
          ...table,
          tableId: table.id,
          expected,
          next,
          event: event('table-committed', payload(next)),
        })
      const sibling = table.metadataLocation.replace('00000.m', '00001.m')
      await commit(sibling)
      await commit('file:///elsewhere/m1', sibling)
      const renamed = event('table-renamed')
      const rename = { tableId: table.id, toNamespaceId: namespace.id, toName: 'new' }
      await renameTable(database, { ...rename, nowMs: NOW_MS, event: renamed })
      const seen: string[] = []
      let cursor: EventCursor = FIRST_EVENT
      const follow = () =>
        nameChangesAfter(database, { warehouseId: warehouse.id, after: cursor, limit: 1 })
      for (let passed = 0; passed < 5; passed++) {
        // Whatever else runs on the server may hold an event up.
        const found = await waitFor(follow, { timeoutMs: WAIT_MS_MAX })
        seen.push([...found.namespaceIds, ...found.tableIds].join())
        cursor = found.cursor
      }
      expect(await follow()).toBeUndefined()
      expect(seen).toEqual([namespace.id, table.id, '', table.id, table.id])
      const all = { warehouseId: warehouse.id, after: FIRST_EVENT, limit: 100 }
      expect(await nameChangesAfter(database, all)).toEqual({
        cursor,
        namespaceIds: [namespace.id],
        tableIds: [table.id],
      })
    })

    it('finds the names as they are now, of tables and of views', async () => {
      const database = useDatabase()
      const warehouse = await newWarehouse(database)
      const namespace = await newNamespace(database, warehouse)
      const kept = await newTable(database, namespace, 'kept')
      const gone = await newTable(database, namespace, 'gone')
      const drop = { tableId: gone.id, purgeRequested: false, nowMs: NOW_MS }
      await dropTable(database, { ...drop, event: event('table-dropped') })
      expect(await findNamedTables(database, [kept.id, gone.id])).toEqual([
        {
          id: kept.id,
          kind: 'table',
          tableUuid: kept.tableUuid,
          levels: ['ns'],
          name: 'kept',
          location: kept.location,
          metadataLocation: kept.metadataLocation,
        },
      ])
      const page = { warehouseId: warehouse.id, afterId: '', limit: 10 }
      expect(await listNamedNamespaces(database, page)).toEqual([
        { id: namespace.id, levels: ['ns'], properties: {} },
      ])
    })
  })
}
