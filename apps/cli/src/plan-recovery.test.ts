import { describe, expect, it } from 'vitest'
import type { TableNameRecord } from '@timelake/storage/name-records'
import { planRecovery, type FoundMetadata } from './plan-recovery.ts'

const found = (folder: string, overrides: Partial<FoundMetadata> = {}): FoundMetadata => ({
  kind: 'table',
  metadataLocation: `file:///lake/${folder}/metadata/00002-b.metadata.json`,
  tableUuid: 'u1',
  location: `file:///lake/${folder}`,
  lastUpdatedMs: 2_000,
  earlierLocations: [],
  ...overrides,
})

const record = (overrides: Partial<TableNameRecord> = {}): TableNameRecord => ({
  kind: 'table',
  id: 't1',
  tableUuid: 'u1',
  levels: ['metrics'],
  name: 'cpu',
  location: 'file:///lake/t1',
  metadataLocation: 'file:///lake/t1/metadata/00000-a.metadata.json',
  ...overrides,
})

const plan = (records: TableNameRecord[], metadata: FoundMetadata[], unnamedInto?: string) =>
  planRecovery({ records, found: metadata, unnamedInto })

describe('planRecovery', () => {
  it('points a recorded table at the newest metadata found for it', () => {
    const { tables, namespaces, problems } = plan([record()], [found('t1')])
    expect(tables).toEqual([
      {
        kind: 'table',
        id: 't1',
        levels: ['metrics'],
        name: 'cpu',
        tableUuid: 'u1',
        location: 'file:///lake/t1',
        metadataLocation: 'file:///lake/t1/metadata/00002-b.metadata.json',
      },
    ])
    expect(namespaces).toEqual([{ id: undefined, levels: ['metrics'], properties: {} }])
    expect(problems).toEqual([])
  })

  it('follows a table to the folder that it was moved to', () => {
    const old = found('t1')
    const moved = found('moved', { lastUpdatedMs: 3_000, earlierLocations: [old.metadataLocation] })
    expect(plan([record()], [moved, old]).tables[0]?.location).toBe('file:///lake/moved')
  })

  it('ends when two metadata files name each other', () => {
    const here = found('t1', { earlierLocations: [found('t2').metadataLocation] })
    const there = found('t2', { earlierLocations: [found('t1').metadataLocation] })
    expect(plan([record()], [here, there]).tables).toHaveLength(1)
  })

  it('leaves a newer copy of the folder alone when the record names the original', () => {
    const copy = found('backup', { lastUpdatedMs: 9_000 })
    expect(plan([record()], [copy, found('t1')]).tables[0]?.location).toBe('file:///lake/t1')
  })

  it('keeps namespaces with their ids and properties, and makes missing parents first', () => {
    const { namespaces } = planRecovery({
      records: [
        { kind: 'namespace', id: 'n2', levels: ['a', 'b'], properties: { owner: 'ops' } },
        record({ levels: ['a', 'b', 'c'] }),
      ],
      found: [found('t1')],
      unnamedInto: undefined,
    })
    expect(namespaces.map(({ id, levels }) => [id, levels.join('.')])).toEqual([
      [undefined, 'a'],
      ['n2', 'a.b'],
      [undefined, 'a.b.c'],
    ])
  })

  it('reports a recorded table without metadata', () => {
    const { tables, problems } = plan([record()], [])
    expect(tables).toEqual([])
    expect(problems).toEqual(['metrics.cpu: no usable metadata file was found'])
  })

  it('only reports tables without a name unless a namespace is given for them', () => {
    const dropped = found('gone-0a1b', { tableUuid: 'u9' })
    expect(plan([], [dropped])).toMatchObject({ tables: [], unnamed: [dropped] })
    expect(plan([], [dropped], 'rescued.old')).toMatchObject({
      tables: [{ id: undefined, levels: ['rescued', 'old'], name: 'gone-0a1b', tableUuid: 'u9' }],
      unnamed: [],
    })
  })

  it('restores views beside tables, and takes neither for the other', () => {
    const view = record({ kind: 'view', id: 'v1', tableUuid: 'u1', name: 'seen' })
    const { tables, problems } = plan(
      [record(), view],
      [found('t1'), found('v1', { kind: 'view', location: 'file:///lake/v1' })],
    )
    expect(problems).toEqual([])
    expect(tables.map(({ kind, name, location }) => [kind, name, location])).toEqual([
      ['table', 'cpu', 'file:///lake/t1'],
      ['view', 'seen', 'file:///lake/v1'],
    ])
  })

  it('lets views share a location, but no view that of a table', () => {
    const view = (id: string) =>
      record({
        kind: 'view',
        id,
        tableUuid: id,
        name: id,
        metadataLocation: `file:///lake/${id}/m`,
      })
    const seen = (id: string, location: string) =>
      found(id, { kind: 'view', tableUuid: id, location })
    const { tables, problems } = plan(
      [view('v1'), view('v2'), record(), view('v3')],
      [
        seen('v1', 'file:///lake/views'),
        seen('v2', 'file:///lake/views'),
        found('t1'),
        seen('v3', 'file:///lake/t1'),
      ],
    )
    expect(tables.map(({ name }) => name)).toEqual(['cpu', 'v1', 'v2'])
    expect(problems).toEqual([expect.stringContaining('metrics.v3 at file:///lake/t1')])
  })

  it('restores one of two records of the same name and says so', () => {
    const { tables, problems } = plan(
      [record(), record({ id: 't2', tableUuid: 'u2', location: 'file:///lake/t2' })],
      [found('t1'), found('t2', { tableUuid: 'u2' })],
    )
    expect(tables).toHaveLength(1)
    expect(problems).toEqual([
      'metrics.cpu at file:///lake/t2: name or location is taken by another table',
    ])
  })
})
