import { describe, expect, it } from 'vitest'
import {
  createNamespace,
  dropNamespace,
  findNamespace,
  listNamespaces,
  updateNamespaceProperties,
} from '../namespaces.ts'
import { dropTable } from '../tables.ts'
import { ensureWarehouse, findWarehouse, listWarehouses } from '../warehouses.ts'
import {
  event,
  eventsOf,
  newId,
  newNamespace,
  newTable,
  newView,
  newWarehouse,
  NOW_MS,
  type UseDatabase,
} from './contract-world.ts'

const ODD_LEVELS = [
  'CustomerDB',
  'customerdb',
  'caf\u00e9',
  'cafe\u0301',
  'a.b',
  'a/b',
  'a%b_c*',
  '"quoted"',
  "it's",
  'back\\slash',
  '\u{1f600}',
  ' ',
  'Special-Table!_With.Multiple_Uses_Of@Chars#-Here~And*Here!name',
]

/** What warehouses.ts and namespaces.ts promise. */
export function describeNamespaces(useDatabase: UseDatabase): void {
  describe('warehouses', () => {
    it('makes a warehouse once and keeps its first id and location', async () => {
      const database = useDatabase()
      const first = await newWarehouse(database)
      const other = { id: newId(), name: first.name, location: 'file:///elsewhere', nowMs: NOW_MS }
      expect(await ensureWarehouse(database, other)).toEqual(first)
      expect(await findWarehouse(database, first.name)).toEqual(first)
      expect(await listWarehouses(database)).toContainEqual(first)
    })

    it.each(['nobody', '', 'a\0b'])('finds no warehouse %j', async (name) => {
      expect(await findWarehouse(useDatabase(), name)).toBeUndefined()
    })
  })

  describe('namespaces', () => {
    it('creates a namespace whose default location carries its id', async () => {
      const database = useDatabase()
      const warehouse = await newWarehouse(database)
      const made = await newNamespace(database, warehouse, ['Größe m²'])
      expect(made.location).toBe(`${warehouse.location}/Gr__e_m_-${made.id.slice(0, 8)}`)
      expect(await findNamespace(database, warehouse.id, ['Größe m²'])).toEqual(made)
    })

    it('answers exists for the second, whatever its id', async () => {
      const database = useDatabase()
      const warehouse = await newWarehouse(database)
      const made = await newNamespace(database, warehouse)
      const request = { id: newId(), warehouseId: warehouse.id, levels: ['ns'], properties: {} }
      const again = { ...request, nowMs: NOW_MS, event: event('namespace-created') }
      expect(await createNamespace(database, again)).toEqual({ outcome: 'exists' })
      expect(await findNamespace(database, warehouse.id, ['ns'])).toEqual(made)
    })

    it('lets exactly one of many racers create a name', async () => {
      const database = useDatabase()
      const warehouse = await newWarehouse(database)
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, () =>
          createNamespace(database, {
            id: newId(),
            warehouseId: warehouse.id,
            levels: ['race'],
            properties: {},
            nowMs: NOW_MS,
            event: event('namespace-created'),
          }),
        ),
      )
      expect(outcomes.filter(({ outcome }) => outcome === 'created')).toHaveLength(1)
      expect(outcomes.filter(({ outcome }) => outcome === 'exists')).toHaveLength(19)
    })

    it('wants the parent of a nested namespace first', async () => {
      const database = useDatabase()
      const warehouse = await newWarehouse(database)
      const request = {
        warehouseId: warehouse.id,
        levels: ['a', 'b', 'c'],
        properties: {},
        nowMs: NOW_MS,
        event: event('namespace-created'),
      }
      const missing = { outcome: 'parent-missing', parent: ['a', 'b'] }
      expect(await createNamespace(database, { ...request, id: newId() })).toEqual(missing)
      await newNamespace(database, warehouse, ['a'])
      await newNamespace(database, warehouse, ['a', 'b'])
      expect(await createNamespace(database, { ...request, id: newId() })).toMatchObject({
        outcome: 'created',
      })
    })

    it('keeps odd names apart and exact: B008, B010', async () => {
      const database = useDatabase()
      const warehouse = await newWarehouse(database)
      for (const level of ODD_LEVELS) await newNamespace(database, warehouse, [level])
      const listed = await listNamespaces(database, { warehouseId: warehouse.id })
      expect(listed).toEqual(ODD_LEVELS.map((level) => [level]).sort(byCodePoint))
      const locations = new Set<string>()
      for (const level of ODD_LEVELS) {
        const found = await findNamespace(database, warehouse.id, [level])
        expect(found?.levels).toEqual([level])
        locations.add(found?.location ?? '')
      }
      expect(locations.size).toBe(ODD_LEVELS.length)
    })

    it('does not mix levels up that only join to the same text with another separator', async () => {
      const database = useDatabase()
      const warehouse = await newWarehouse(database)
      await newNamespace(database, warehouse, ['a'])
      await newNamespace(database, warehouse, ['a', 'b.c'])
      await newNamespace(database, warehouse, ['a.b'])
      expect(await findNamespace(database, warehouse.id, ['a', 'b', 'c'])).toBeUndefined()
      expect(
        await listNamespaces(database, { warehouseId: warehouse.id, parentLevels: ['a'] }),
      ).toEqual([['a', 'b.c']])
      expect(await listNamespaces(database, { warehouseId: warehouse.id })).toEqual([
        ['a'],
        ['a.b'],
      ])
    })

    it.each([[[]], [['']], [['a\0']], [['a\u001fb']], [['a', '\ud800']]])(
      'finds nothing under levels that cannot be stored: %j',
      async (levels) => {
        const database = useDatabase()
        const warehouse = await newWarehouse(database)
        await newNamespace(database, warehouse, ['a'])
        await newNamespace(database, warehouse, ['a', 'b'])
        expect(await findNamespace(database, warehouse.id, levels)).toBeUndefined()
        if (levels.length === 0) return
        expect(
          await listNamespaces(database, { warehouseId: warehouse.id, parentLevels: levels }),
        ).toEqual([])
      },
    )

    it('pages through one level by code point, without gaps and repeats: B017', async () => {
      const database = useDatabase()
      const warehouse = await newWarehouse(database)
      const names = ['A', 'Z', 'a', 'b', 'z', '\u00e9', '\uffff', '\u{1f600}']
      await newNamespace(database, warehouse, ['p'])
      for (const name of [...names].reverse()) await newNamespace(database, warehouse, ['p', name])
      await newNamespace(database, warehouse, ['p', 'b', 'below'])
      const seen: string[] = []
      for (let after: string | undefined; ; after = seen.at(-1)) {
        const page = await listNamespaces(database, {
          warehouseId: warehouse.id,
          parentLevels: ['p'],
          after,
          limit: 2,
        })
        if (page.length === 0) break
        seen.push(...page.map((levels) => levels[1] ?? ''))
      }
      expect(seen).toEqual(names)
    })

    it('takes a page token with a NUL for a position like any other', async () => {
      const database = useDatabase()
      const warehouse = await newWarehouse(database)
      await newNamespace(database, warehouse, ['b'])
      const page = await listNamespaces(database, { warehouseId: warehouse.id, after: 'a\0x' })
      expect(page).toEqual([['b']])
    })

    it('sets, replaces and removes properties, and tells what was missing', async () => {
      const database = useDatabase()
      const warehouse = await newWarehouse(database)
      const { id } = await newNamespace(database, warehouse)
      const change = (updates: Record<string, string>, removals: string[]) =>
        updateNamespaceProperties(database, {
          namespaceId: id,
          updates,
          removals,
          nowMs: NOW_MS,
          event: event('namespace-updated'),
        })
      await change({ a: '1', ['nul \0 and \ud800']: '\0', ['__proto__']: 'x' }, [])
      const result = await change({ a: '2', b: '' }, ['nul \0 and \ud800', 'never'])
      expect(result).toEqual({
        updated: ['a', 'b'],
        removed: ['nul \0 and \ud800'],
        missing: ['never'],
      })
      const found = await findNamespace(database, warehouse.id, ['ns'])
      expect(Object.entries(found?.properties ?? {}).sort()).toEqual([
        ['__proto__', 'x'],
        ['a', '2'],
        ['b', ''],
      ])
    })

    it('loses no property when many set one at once', async () => {
      const database = useDatabase()
      const warehouse = await newWarehouse(database)
      const { id } = await newNamespace(database, warehouse)
      await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          updateNamespaceProperties(database, {
            namespaceId: id,
            updates: { [`key-${i}`]: 'x' },
            removals: [],
            nowMs: NOW_MS,
            event: event('namespace-updated'),
          }),
        ),
      )
      const found = await findNamespace(database, warehouse.id, ['ns'])
      expect(Object.keys(found?.properties ?? {})).toHaveLength(20)
      const numbers = (await eventsOf(database, id)).map((stored) => stored.event_number)
      expect(numbers).toEqual(Array.from({ length: 21 }, (_, i) => BigInt(i + 1)))
    })

    it('takes the location property before the default location', async () => {
      const database = useDatabase()
      const warehouse = await newWarehouse(database)
      const made = await createNamespace(database, {
        id: newId(),
        warehouseId: warehouse.id,
        levels: ['placed'],
        properties: { location: 'file:///lake/here' },
        nowMs: NOW_MS,
        event: event('namespace-created'),
      })
      expect(made).toMatchObject({ row: { location: 'file:///lake/here' } })
      expect(await findNamespace(database, warehouse.id, ['placed'])).toMatchObject({
        location: 'file:///lake/here',
      })
    })

    it('answers undefined for an update of a namespace that is gone', async () => {
      const update = { namespaceId: newId(), updates: {}, removals: [], nowMs: NOW_MS }
      expect(
        await updateNamespaceProperties(useDatabase(), {
          ...update,
          event: event('namespace-updated'),
        }),
      ).toBeUndefined()
    })

    it('drops an empty namespace only, and counts what is in the way', async () => {
      const database = useDatabase()
      const warehouse = await newWarehouse(database)
      const outer = await newNamespace(database, warehouse, ['outer'])
      const inner = await newNamespace(database, warehouse, ['outer', 'inner'])
      const table = await newTable(database, outer)
      const drop = (namespaceId: string) =>
        dropNamespace(database, { namespaceId, nowMs: NOW_MS, event: event('namespace-dropped') })
      const view = await newView(database, outer, 'v')
      const full = { outcome: 'not-empty', tables: 1, views: 1, children: 1 }
      expect(await drop(outer.id)).toEqual(full)
      expect(await drop(inner.id)).toBe('dropped')
      expect(await drop(outer.id)).toEqual({ ...full, children: 0 })
      const change = { purgeRequested: false, nowMs: NOW_MS }
      await dropTable(database, { ...change, tableId: table.id, event: event('table-dropped') })
      expect(await drop(outer.id)).toEqual({ ...full, tables: 0, children: 0 })
      await dropTable(database, { ...change, tableId: view.id, event: event('view-dropped') })
      expect(await drop(outer.id)).toBe('dropped')
      expect(await drop(outer.id)).toBe('missing')
      expect((await eventsOf(database, outer.id)).map((stored) => stored.kind)).toEqual([
        'namespace-created',
        'namespace-dropped',
      ])
    })
  })
}

function byCodePoint(left: string[], right: string[]): number {
  return Buffer.compare(Buffer.from(left.join()), Buffer.from(right.join()))
}
