import { describe, expect, it } from 'vitest'
import { openMemoryObjectStore } from './memory-object-store.ts'
import { openNameRecords, type TableNameRecord } from './name-records.ts'

const WAREHOUSE = 'file:///lake'

const table: TableNameRecord = {
  kind: 'table',
  id: 't1',
  tableUuid: 'u1',
  levels: ['metrics', 'raw/%1F'],
  name: 'cpu load',
  location: 'file:///lake/t1',
  metadataLocation: 'file:///lake/t1/metadata/00000-a.metadata.json',
}

const locations = async (store: ReturnType<typeof openMemoryObjectStore>): Promise<string[]> => {
  const found: string[] = []
  for await (const { location } of store.list(WAREHOUSE)) found.push(location)
  return found
}

describe('name records', () => {
  it('give back the newest record of every subject', async () => {
    const store = openMemoryObjectStore()
    const names = openNameRecords(store, WAREHOUSE)
    await names.put(table)
    await names.put({
      kind: 'namespace',
      id: 'n1',
      levels: ['metrics'],
      properties: { owner: 'ops' },
    })
    await names.put({ ...table, name: 'load' })
    const { records, unreadable } = await names.readAll()
    expect(unreadable).toEqual([])
    expect(records).toHaveLength(2)
    expect(records).toContainEqual({ ...table, name: 'load' })
    expect(await locations(store)).toHaveLength(2)
  })

  it('write nothing when nothing changed', async () => {
    const store = openMemoryObjectStore()
    const names = openNameRecords(store, WAREHOUSE)
    await names.put(table)
    const before = await locations(store)
    await names.put(table)
    expect(await locations(store)).toEqual(before)
  })

  it('know from a listing what is recorded already', async () => {
    const names = openNameRecords(openMemoryObjectStore(), WAREHOUSE)
    await names.put(table)
    const isRecorded = await names.recorded()
    const { kind, ...rest } = table
    expect(isRecorded({ ...rest, kind })).toBe(true)
    expect(isRecorded({ ...table, name: 'load' })).toBe(false)
    expect(isRecorded({ ...table, kind: 'view' })).toBe(false)
    expect(isRecorded({ ...table, id: 't2' })).toBe(false)
  })

  it('keep views apart from tables', async () => {
    const names = openNameRecords(openMemoryObjectStore(), WAREHOUSE)
    const view = { ...table, kind: 'view', id: 'v1' } as const
    await names.put(view)
    expect(await names.readAll()).toEqual({ records: [view], unreadable: [] })
  })

  it('hold one object when two processes write the same at one time', async () => {
    const store = openMemoryObjectStore()
    const names = openNameRecords(store, WAREHOUSE)
    await Promise.all([names.put(table), names.put(table)])
    expect(await locations(store)).toHaveLength(1)
  })

  it('read and replace what earlier releases wrote', async () => {
    const store = openMemoryObjectStore()
    const names = openNameRecords(store, WAREHOUSE)
    const old = `${WAREHOUSE}/.timelake/names/table/t1/00000007.json`
    await store.putIfAbsent(old, new TextEncoder().encode(JSON.stringify(table)))
    expect((await names.readAll()).records).toEqual([table])
    expect((await names.recorded())(table)).toBe(false)
    await names.put(table)
    expect(await locations(store)).toEqual([expect.stringMatching(/00000008-[0-9a-f]{16}\.json$/)])
  })

  it('forget a removed subject', async () => {
    const names = openNameRecords(openMemoryObjectStore(), WAREHOUSE)
    await names.put(table)
    await names.remove({ kind: 'table', id: 't1' })
    await names.remove({ kind: 'table', id: 'never there' })
    expect(await names.readAll()).toEqual({ records: [], unreadable: [] })
  })

  it('prefer the higher number when a crash left two, and name what cannot be read', async () => {
    const store = openMemoryObjectStore()
    const names = openNameRecords(store, WAREHOUSE)
    await names.put(table)
    const put = (path: string, text: string) =>
      store.putIfAbsent(`${WAREHOUSE}/.timelake/names/${path}`, new TextEncoder().encode(text))
    await put('table/t1/00000002.json', JSON.stringify({ ...table, name: 'newer' }))
    await put('table/t2/00000001.json', '{"kind":"table"')
    await put('table/t3/00000001.json', '{"kind":"table","id":"t3","levels":[1]}')
    const { records, unreadable } = await names.readAll()
    expect(records).toEqual([{ ...table, name: 'newer' }])
    expect(unreadable).toHaveLength(2)
  })
})
