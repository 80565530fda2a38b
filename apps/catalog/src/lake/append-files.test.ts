import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pruneBatches } from '@timelake/database/append-batches'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestCatalog, type TestAnswer, type TestCatalog } from '../open-test-catalog.ts'
import {
  appendFilesNamed,
  dataFileBody,
  liveEntries,
  listedManifests,
  liveNames,
  loadMetadata,
  sendAppend,
} from '../test-appends.ts'
import { errorOf, longAt, member, textAt } from '../test-json.ts'
import { makeNamespace, makeTable, type TestTable } from '../test-tables.ts'

let catalog: TestCatalog
let tableCount = 0
let batchCount = 0

beforeAll(async () => {
  catalog = await openTestCatalog()
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())

function newTable(more: Parameters<typeof makeTable>[1]['more'] = {}): Promise<TestTable> {
  tableCount += 1
  return makeTable(catalog, { levels: ['ns'], name: `t${tableCount}`, more })
}

describe('appendFiles', () => {
  it('adds described files in a snapshot of their own', async () => {
    const table = await newTable()
    const answer = await appendFilesNamed(catalog, table, { id: 'b1', names: ['a', 'b'] })
    expect(answer.status, answer.text).toBe(200)
    expect(textAt(answer.json, 'outcome')).toBe('added')
    expect(textAt(answer.json, 'batch-id')).toBe('b1')
    const metadata = await loadMetadata(catalog, table)
    expect(metadata.currentSnapshotId).toBe(longAt(answer.json, 'snapshot-id'))
    expect(longAt(answer.json, 'sequence-number')).toBe(1n)
    expect(metadata.snapshots[0]?.summary).toMatchObject({
      operation: 'append',
      'added-data-files': '2',
      'added-records': '20',
      'timelake.batch-id': 'b1',
    })
    expect(await liveNames(catalog, table)).toEqual(['a', 'b'])
  })

  const WRITERS = 32
  const BATCHES_PER_WRITER = 5

  it('lands every batch of many writers once, and several of them in one snapshot', async () => {
    const table = await newTable()
    const batches = WRITERS * BATCHES_PER_WRITER
    await Promise.all(
      Array.from({ length: WRITERS }, async (_, writer) => {
        for (let at = 0; at < BATCHES_PER_WRITER; at += 1) {
          const id = `w${writer}-${at}`
          const answer = await appendFilesNamed(catalog, table, { id, names: [id] })
          expect(answer.status, answer.text).toBe(200)
          expect(textAt(answer.json, 'outcome')).toBe('added')
        }
      }),
    )
    const names = await liveNames(catalog, table)
    expect(names).toHaveLength(batches)
    expect(new Set(names).size).toBe(batches)
    const { snapshots, lastSequenceNumber } = await loadMetadata(catalog, table)
    expect(snapshots.length).toBeLessThan(batches / 2)
    expect(snapshots.map(({ sequenceNumber }) => sequenceNumber)).toEqual(
      snapshots.map((_, index) => BigInt(index + 1)),
    )
    expect(lastSequenceNumber).toBe(BigInt(snapshots.length))
    expect(snapshots.at(-1)?.summary?.['total-data-files']).toBe(String(batches))
  })

  it('adds nothing for a batch that landed, with the same files or with others', async () => {
    const table = await newTable()
    const first = await appendFilesNamed(catalog, table, { id: 'b', names: ['a'] })
    const again = await appendFilesNamed(catalog, table, { id: 'b', names: ['a'] })
    expect(textAt(again.json, 'outcome')).toBe('landed-before')
    expect(member(again.json, 'same-files')).toBe(true)
    expect(longAt(again.json, 'snapshot-id')).toBe(longAt(first.json, 'snapshot-id'))
    const other = await appendFilesNamed(catalog, table, { id: 'b', names: ['other'] })
    expect(textAt(other.json, 'outcome')).toBe('landed-before')
    expect(member(other.json, 'same-files')).toBe(false)
    expect(await liveNames(catalog, table)).toEqual(['a'])
    expect((await loadMetadata(catalog, table)).snapshots).toHaveLength(1)
  })

  it('I36 lands a batch once that comes many times at the same moment', async () => {
    const table = await newTable()
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        appendFilesNamed(catalog, table, { id: 'b', names: [`a${index}`] }),
      ),
    )
    const outcomes = answers.map(({ json }) => textAt(json, 'outcome'))
    expect(outcomes.filter((outcome) => outcome === 'added')).toHaveLength(1)
    expect(new Set(answers.map(({ json }) => longAt(json, 'snapshot-id'))).size).toBe(1)
    expect(await liveNames(catalog, table)).toHaveLength(1)
  })

  it('adds many files at once', async () => {
    const table = await newTable()
    const names = Array.from({ length: 1_234 }, (_, index) => `f${index}`)
    const answer = await appendFilesNamed(catalog, table, { id: 'b', names })
    expect(answer.status, answer.text).toBe(200)
    expect(await liveNames(catalog, table)).toEqual([...names].sort())
  })

  it('counts batches and files', async () => {
    const table = await newTable()
    const valuesNow = async (): Promise<readonly (number | undefined)[]> => {
      const { text } = await catalog.call('GET', '/metrics')
      return [
        'timelake_append_batches_total{outcome="added"}',
        'timelake_append_batches_total{outcome="landed-before"}',
        'timelake_appended_files_total',
      ].map((name) => {
        const line = text.split('\n').find((one) => one.startsWith(`${name} `))
        return line === undefined ? 0 : Number(line.slice(name.length))
      })
    }
    const before = await valuesNow()
    await appendFilesNamed(catalog, table, { id: 'b', names: ['a', 'b'] })
    await appendFilesNamed(catalog, table, { id: 'b', names: ['a', 'b'] })
    await appendFilesNamed(catalog, table, { id: 'c', names: ['a'] })
    const after = await valuesNow()
    expect(after.map((value, at) => (value ?? 0) - (before[at] ?? 0))).toEqual([1, 1, 2])
  })

  it('remembers a batch whose snapshot is gone, and its files with it', async () => {
    const table = await newTable()
    const first = await appendFilesNamed(catalog, table, { id: 'b', names: ['a'] })
    await appendFilesNamed(catalog, table, { id: 'c', names: ['c'] })
    const snapshotId = longAt(first.json, 'snapshot-id')
    const removal = { updates: [{ action: 'remove-snapshots', 'snapshot-ids': [snapshotId] }] }
    expect((await catalog.call('POST', table.path, { body: removal })).status).toBe(200)
    // A file that is nowhere: its footer cannot be read.
    const again = await sendAppend(catalog, table, {
      'batch-id': 'b',
      paths: [`${table.location}/data/merged-and-deleted.parquet`],
    })
    expect(again.status, again.text).toBe(200)
    expect(textAt(again.json, 'outcome')).toBe('landed-before')
    expect(longAt(again.json, 'snapshot-id')).toBe(snapshotId)
    expect(() => member(again.json, 'sequence-number')).toThrow()
  })

  it('answers a landed batch although its request would be refused by now', async () => {
    const table = await newTable()
    await appendFilesNamed(catalog, table, { id: 'b', names: ['a'] })
    const files = [dataFileBody(table, 'a', { 'spec-id': 7n })]
    const again = await sendAppend(catalog, table, { 'batch-id': 'b', 'data-files': files })
    expect(again.status, again.text).toBe(200)
    expect(textAt(again.json, 'outcome')).toBe('landed-before')
  })

  it('remembers a batch for as long as the table says', async () => {
    const properties = { 'timelake.append.remember-batches-ms': '5000' }
    const table = await newTable({ properties })
    const { database, clock } = catalog
    await appendFilesNamed(catalog, table, { id: 'b', names: ['a'] })
    clock.advance(4_999)
    await pruneBatches(database, { expiredBeforeMs: clock.nowMs(), limit: 100 })
    const again = await appendFilesNamed(catalog, table, { id: 'b', names: ['b'] })
    expect(textAt(again.json, 'outcome')).toBe('landed-before')
    clock.advance(2)
    await pruneBatches(database, { expiredBeforeMs: clock.nowMs(), limit: 100 })
    const late = await appendFilesNamed(catalog, table, { id: 'b', names: ['b'] })
    expect(textAt(late.json, 'outcome')).toBe('added')
  })

  it('gives a repetition under its idempotency key the first answer', async () => {
    const table = await newTable()
    const body = { 'batch-id': 'b', 'data-files': [dataFileBody(table, 'a')] }
    const headers = { 'idempotency-key': '017f22e2-79b0-7cc3-98c4-dc0c0c07398f' }
    const first = await sendAppend(catalog, table, body, headers)
    expect(textAt(first.json, 'outcome')).toBe('added')
    const again = await sendAppend(catalog, table, body, headers)
    expect(again.status, again.text).toBe(200)
    expect(again.text).toBe(first.text)
    const refused = await sendAppend(catalog, table, { ...body, 'batch-id': 'c' }, headers)
    expect(refused.status).toBe(409)
  })

  it('keeps a refusal under its idempotency key', async () => {
    const table = await newTable()
    await appendFilesNamed(catalog, table, { id: 'b', names: ['a'] })
    const body = { 'batch-id': 'c', 'data-files': [dataFileBody(table, 'a')] }
    const headers = { 'idempotency-key': '017f22e2-79b0-7cc3-98c4-dc0c0c073990' }
    const answers = [await sendAppend(catalog, table, body, headers)]
    answers.push(await sendAppend(catalog, table, body, headers))
    expect(answers.map(({ status }) => status)).toEqual([409, 409])
    expect(answers[1]?.text).toBe(answers[0]?.text)
  })
})

describe('appendFiles, of a file that is in the table', () => {
  const expectTaken = (answer: TestAnswer, where: string): void => {
    expect(answer.status, answer.text).toBe(409)
    expect(errorOf(answer).type).toBe('FileAlreadyLiveException')
    expect(errorOf(answer).message).toContain(where)
  }

  it('I37 refuses one that is live, however its location is spelled', async () => {
    const table = await newTable()
    await appendFilesNamed(catalog, table, { id: 'b', names: ['a', 'b'] })
    const plain = await appendFilesNamed(catalog, table, { id: 'c', names: ['new', 'b'] })
    expectTaken(plain, 'it is live on branch main')
    const path = `${table.location.replace('file://', '')}/data/b.parquet`
    const spelled = dataFileBody(table, 'b', { 'file-path': path })
    const answer = await sendAppend(catalog, table, { 'batch-id': 'd', 'data-files': [spelled] })
    expectTaken(answer, 'it is live on branch main')
    expect(await liveNames(catalog, table)).toEqual(['a', 'b'])
  })

  it('lets one of several batches have it that come at the same moment', async () => {
    const table = await newTable()
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        appendFilesNamed(catalog, table, { id: `b${index}`, names: [`own${index}`, 'shared'] }),
      ),
    )
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([200, ...Array.from({ length: 7 }, () => 409)])
    const names = await liveNames(catalog, table)
    expect(names).toHaveLength(2)
    expect(names).toContain('shared')
  })

  it('refuses one that is named twice', async () => {
    const table = await newTable()
    const answer = await appendFilesNamed(catalog, table, { id: 'b', names: ['a', 'a'] })
    expect(answer.status).toBe(400)
    expect(errorOf(answer).message).toMatch(/a\.parquet: it is named twice$/)
  })

  it('takes one that was live and is not any more', async () => {
    const table = await newTable()
    const first = await appendFilesNamed(catalog, table, { id: 'b', names: ['a'] })
    await appendFilesNamed(catalog, table, { id: 'c', names: ['c'] })
    const back = {
      updates: [
        {
          action: 'set-snapshot-ref',
          'ref-name': 'main',
          type: 'branch',
          'snapshot-id': longAt(first.json, 'snapshot-id'),
        },
      ],
    }
    expect((await catalog.call('POST', table.path, { body: back })).status).toBe(200)
    const answer = await appendFilesNamed(catalog, table, { id: 'd', names: ['c'] })
    expect(answer.status, answer.text).toBe(200)
    expect(await liveNames(catalog, table)).toEqual(['a', 'c'])
  })
})

describe('appendFiles, on branches', () => {
  async function withBranch(table: TestTable, ref: JsonObject): Promise<bigint> {
    const first = await appendFilesNamed(catalog, table, { id: 'base', names: ['base'] })
    const snapshotId = longAt(first.json, 'snapshot-id')
    const update = { action: 'set-snapshot-ref', 'ref-name': 'audit', ...ref }
    const body = { updates: [{ ...update, 'snapshot-id': snapshotId }] }
    expect((await catalog.call('POST', table.path, { body })).status).toBe(200)
    return snapshotId
  }

  it('appends to one and leaves main and its own retention as they are', async () => {
    const table = await newTable()
    const snapshotId = await withBranch(table, { type: 'branch', 'min-snapshots-to-keep': 3n })
    const more = { branch: 'audit' }
    const answers = await Promise.all([
      appendFilesNamed(catalog, table, { id: 'b', names: ['b'], more }),
      appendFilesNamed(catalog, table, { id: 'c', names: ['c'] }),
      appendFilesNamed(catalog, table, { id: 'd', names: ['d'], more }),
    ])
    for (const { status, text } of answers) expect(status, text).toBe(200)
    expect(await liveNames(catalog, table, 'audit')).toEqual(['b', 'base', 'd'])
    expect(await liveNames(catalog, table)).toEqual(['base', 'c'])
    const { refs, snapshots } = await loadMetadata(catalog, table)
    expect(refs['audit']).toMatchObject({ minSnapshotsToKeep: 3 })
    const byId = new Map(snapshots.map((snapshot) => [snapshot.snapshotId, snapshot]))
    const head = byId.get(refs['main']?.snapshotId ?? 0n)
    expect(head?.parentSnapshotId).toBe(snapshotId)
  })

  it('takes a file that is live on another branch only', async () => {
    const table = await newTable()
    await withBranch(table, { type: 'branch' })
    await appendFilesNamed(catalog, table, { id: 'b', names: ['b'], more: { branch: 'audit' } })
    const answer = await appendFilesNamed(catalog, table, { id: 'c', names: ['b'] })
    expect(answer.status, answer.text).toBe(200)
  })

  it('refuses one that is not there, and a tag', async () => {
    const table = await newTable()
    await withBranch(table, { type: 'tag' })
    const missing = { id: 'b', names: ['b'], more: { branch: 'nowhere' } }
    const answer = await appendFilesNamed(catalog, table, missing)
    expect(answer.status).toBe(400)
    expect(errorOf(answer).message).toBe(
      'cannot append to branch nowhere: the table has no such branch',
    )
    const tag = { id: 'b', names: ['b'], more: { branch: 'audit' } }
    const toTag = await appendFilesNamed(catalog, table, tag)
    expect(errorOf(toTag).message).toBe('cannot append to audit: expected a branch, it is a tag')
  })
})

describe('appendFiles, in every format version', () => {
  it('writes v1', async () => {
    const table = await newTable({ properties: { 'format-version': '1' } })
    const answer = await appendFilesNamed(catalog, table, { id: 'b', names: ['a'] })
    expect(longAt(answer.json, 'sequence-number')).toBe(0n)
    await appendFilesNamed(catalog, table, { id: 'c', names: ['c'] })
    expect(await liveNames(catalog, table)).toEqual(['a', 'c'])
  })

  it('gives the rows of v3 ids of their own', async () => {
    const table = await newTable({ properties: { 'format-version': '3' } })
    await Promise.all(
      ['a', 'b', 'c', 'd'].map((id) => appendFilesNamed(catalog, table, { id, names: [id] })),
    )
    await appendFilesNamed(catalog, table, { id: 'e', names: ['e', 'f'] })
    const { nextRowId, snapshots } = await loadMetadata(catalog, table)
    expect(nextRowId).toBe(60n)
    expect(snapshots.reduce((sum, { addedRows = 0n }) => sum + addedRows, 0n)).toBe(60n)
    const firstIds = (await liveEntries(catalog, table)).map(({ dataFile }) => dataFile.firstRowId)
    expect(firstIds.sort((a, b) => Number((a ?? 0n) - (b ?? 0n)))).toEqual([
      0n,
      10n,
      20n,
      30n,
      40n,
      50n,
    ])
  })
})

describe('appendFiles, many times', () => {
  it.each(['2', '3'])('keeps the list of manifests of a v%s table short', async (version) => {
    const properties = {
      'format-version': version,
      'commit.manifest.min-count-to-merge': '4',
    }
    const table = await newTable({ properties })
    const names = Array.from({ length: 40 }, (_, index) => `f${String(index).padStart(2, '0')}`)
    for (const name of names) await appendFilesNamed(catalog, table, { id: name, names: [name] })
    const entries = await liveEntries(catalog, table)
    expect(await liveNames(catalog, table)).toEqual(names)
    const manifests = new Set(await listedManifests(catalog, table))
    expect(manifests.size).toBeLessThan(10)
    const numbers = entries.map(({ sequenceNumber }) => sequenceNumber)
    expect(new Set(numbers).size).toBe(names.length)
    const taken = await appendFilesNamed(catalog, table, { id: 'late', names: ['f00'] })
    expect(taken.status).toBe(409)
    if (version === '2') return
    const rowIds = entries.map(({ dataFile }) => dataFile.firstRowId)
    expect(new Set(rowIds).size).toBe(names.length)
  })
})

describe('appendFiles, beside commits of other clients', () => {
  it('goes on from a commit of the table, and lets one go on from it', async () => {
    const table = await newTable()
    await appendFilesNamed(catalog, table, { id: 'b', names: ['a'] })
    const change = { updates: [{ action: 'set-properties', updates: { owner: 'x' } }] }
    const answers = await Promise.all([
      ...Array.from({ length: 4 }, (_, index) =>
        appendFilesNamed(catalog, table, { id: `c${index}`, names: [`c${index}`] }),
      ),
      catalog.call('POST', table.path, { body: change }),
      ...Array.from({ length: 4 }, (_, index) =>
        appendFilesNamed(catalog, table, { id: `d${index}`, names: [`d${index}`] }),
      ),
    ])
    for (const { status, text } of answers) expect(status, text).toBe(200)
    expect(await liveNames(catalog, table)).toHaveLength(9)
    expect((await loadMetadata(catalog, table)).properties['owner']).toBe('x')
  })

  it('uses the spec that a file was written with, and the newest by default', async () => {
    const table = await newTable()
    const evolve = {
      updates: [
        {
          action: 'add-spec',
          spec: { fields: [{ 'source-id': 1n, name: 'day', transform: 'day' }] },
        },
        { action: 'set-default-spec', 'spec-id': -1n },
      ],
    }
    expect((await catalog.call('POST', table.path, { body: evolve })).status).toBe(200)
    const inDay = { 'spec-id': undefined, partition: ['2026-01-31'] }
    const [ofOld, ofNew] = await Promise.all([
      appendFilesNamed(catalog, table, { id: 'old', names: ['old'] }),
      sendAppend(catalog, table, {
        'batch-id': 'new',
        'data-files': [dataFileBody(table, 'new', inDay)],
      }),
    ])
    expect(ofOld?.status, ofOld?.text).toBe(200)
    expect(ofNew?.status, ofNew?.text).toBe(200)
    const partitions = (await liveEntries(catalog, table)).map(({ dataFile }) => [
      dataFile.filePath.endsWith('new.parquet'),
      dataFile.partition,
    ])
    expect(partitions).toContainEqual([true, [20_484]])
    expect(partitions).toContainEqual([false, []])
  })
})

const PARQUET_FILES = new URL('../../../../packages/timelake/src/data/fixtures/', import.meta.url)

/** Puts a Parquet file that PyIceberg wrote where a table's files are; answers its location. */
async function putParquet(
  { location }: Pick<TestTable, 'location'>,
  name: string,
  as: string = name,
): Promise<string> {
  const target = `${location}/data/${as}.parquet`
  const path = fileURLToPath(target)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, readFileSync(new URL(`${name}.parquet`, PARQUET_FILES)))
  return target
}

const column = (id: bigint, name: string, type: string): JsonObject => ({
  id,
  name,
  type,
  required: false,
})
const EVOLVED_SCHEMA: JsonObject = {
  type: 'struct',
  'schema-id': 0n,
  fields: [column(1n, 'id', 'long'), column(2n, 'name', 'string'), column(3n, 'gone', 'string')],
}
const BY_ID: JsonObject = {
  fields: [{ 'source-id': 1n, name: 'id_4', transform: 'truncate[4]' }],
}

describe('appendFiles, of files that are only named', () => {
  const evolvedTable = (more: JsonObject = {}) => newTable({ schema: EVOLVED_SCHEMA, ...more })
  const sendPaths = (table: TestTable, paths: readonly (string | JsonObject)[]) =>
    sendAppend(catalog, table, { 'batch-id': `batch ${(batchCount += 1)}`, paths })

  it('reads their footers, and finds the partition by their bounds', async () => {
    const table = await evolvedTable({ 'partition-spec': BY_ID })
    const path = await putParquet(table, 'evolved-0')
    const answer = await sendPaths(table, [path])
    expect(answer.status, answer.text).toBe(200)
    const [entry] = await liveEntries(catalog, table)
    const { dataFile } = entry ?? {}
    expect(dataFile).toMatchObject({
      filePath: path,
      fileFormat: 'PARQUET',
      partition: [0n],
      recordCount: 1n,
      splitOffsets: [4n],
    })
    expect(dataFile?.fileSizeBytes).toBe(1_166n)
    expect(dataFile?.lowerBounds?.get(2)).toEqual(new TextEncoder().encode('a'))
    expect(dataFile?.nullValueCounts?.get(3)).toBe(0n)
  })

  it('takes them together with described ones', async () => {
    const table = await evolvedTable()
    const paths = [
      await putParquet(table, 'evolved-0', 'x'),
      await putParquet(table, 'evolved-0', 'y'),
    ]
    const answer = await sendAppend(catalog, table, {
      'batch-id': 'b',
      paths,
      'data-files': [dataFileBody(table, 'z')],
    })
    expect(answer.status, answer.text).toBe(200)
    expect(await liveNames(catalog, table)).toEqual(['x', 'y', 'z'])
  })

  it('takes the partition that the writer names, unless the bounds exclude it', async () => {
    const table = await evolvedTable({ 'partition-spec': BY_ID })
    const path = await putParquet(table, 'evolved-0')
    const wrong = await sendPaths(table, [{ 'file-path': path, partition: [4n] }])
    expect(wrong.status).toBe(400)
    expect(errorOf(wrong).message).toMatch(
      /evolved-0\.parquet: partition id_4: the bounds of column id exclude this value$/,
    )
    const right = await sendPaths(table, [{ 'file-path': path, partition: [0n] }])
    expect(right.status, right.text).toBe(200)
  })

  it('refuses one that is not there, and one that is no Parquet file', async () => {
    const table = await evolvedTable()
    const missing = await sendPaths(table, [`${table.location}/data/missing.parquet`])
    expect(missing.status).toBe(400)
    expect(errorOf(missing).message).toMatch(/missing\.parquet: it is not there$/)
    const location = await putParquet(table, 'evolved-0', 'text')
    await writeFile(fileURLToPath(location), 'this is a text and no Parquet file')
    const text = await sendPaths(table, [location])
    expect(text.status).toBe(400)
    expect(errorOf(text).message).toMatch(/text\.parquet: not a Parquet file/)
    await writeFile(fileURLToPath(location), 'tiny')
    expect(errorOf(await sendPaths(table, [location])).message).toMatch(/not a Parquet file$/)
  })

  it('refuses one whose columns are not those of the table', async () => {
    const table = await newTable()
    const answer = await sendPaths(table, [await putParquet(table, 'evolved-0')])
    expect(answer.status).toBe(400)
    expect(errorOf(answer).message).toMatch(
      /stores column "ts" \(timestamptz\) as optional INT32 \(unannotated\)$/,
    )
  })

  it('reads nothing outside of the table', async () => {
    const table = await evolvedTable()
    const other = await evolvedTable()
    const foreign = await putParquet(other, 'evolved-0')
    for (const path of [foreign, `${table.location}/../x/a.parquet`, 'http://h/a', '/etc/passwd']) {
      const answer = await sendPaths(table, [path])
      expect(answer.status, path).toBe(400)
      expect(errorOf(answer).message).toContain(`expected a location below ${table.location}`)
    }
    const described = dataFileBody(other, 'a')
    const body = { 'batch-id': 'b', 'data-files': [described] }
    expect((await sendAppend(catalog, table, body)).status).toBe(400)
  })
})

describe('appendFiles, refused', () => {
  it('answers 404 for a table that is not there', async () => {
    const missing = { path: '/v1/main/namespaces/ns/tables/missing', location: 'file:///x' }
    const answer = await appendFilesNamed(catalog, missing, { id: 'b', names: ['a'] })
    expect(answer.status).toBe(404)
    expect(errorOf(answer).type).toBe('NoSuchTableException')
  })

  it.each<[string, JsonObject, string]>([
    ['no batch id', { 'batch-id': undefined }, 'batch-id: expected string, got nothing'],
    ['a spec that is unknown', { 'spec-id': 3n }, 'expected files of one spec, got 3 and 0'],
    [
      'a reserved summary',
      { summary: { operation: 'delete' } },
      'summary.operation: it is reserved',
    ],
  ])('answers 400 for a request with %s', async (_, more, message) => {
    const table = await newTable()
    const answer = await appendFilesNamed(catalog, table, { id: 'b', names: ['a'], more })
    expect(answer.status).toBe(400)
    expect(errorOf(answer).message).toBe(message)
  })

  it.each<[string, JsonObject, string]>([
    [
      'nulls in a required column',
      { 'null-value-counts': { keys: [1n], values: [1n] } },
      'required column ts holds 1 nulls',
    ],
    ['no bytes', { 'file-size-in-bytes': 0n }, 'expected a file size from 1, got 0'],
  ])('answers 400 for a file with %s', async (_, more, problem) => {
    const table = await newTable()
    const body = { 'batch-id': 'b', 'data-files': [dataFileBody(table, 'a', more)] }
    const answer = await sendAppend(catalog, table, body)
    expect(answer.status).toBe(400)
    expect(errorOf(answer).message).toBe(
      `cannot append ${table.location}/data/a.parquet: ${problem}`,
    )
  })

  it('answers 400 where the table has a setting that is none', async () => {
    const table = await newTable({ properties: { 'timelake.append.remember-batches-ms': 'long' } })
    const answer = await appendFilesNamed(catalog, table, { id: 'b', names: ['a'] })
    expect(answer.status).toBe(400)
    expect(errorOf(answer).message).toMatch(
      /^timelake\.append\.remember-batches-ms: expected a whole/,
    )
  })

  it('disturbs nobody else who waits', async () => {
    const table = await newTable()
    await appendFilesNamed(catalog, table, { id: 'live', names: ['live'] })
    const answers = await Promise.all([
      appendFilesNamed(catalog, table, { id: 'a', names: ['a'] }),
      appendFilesNamed(catalog, table, { id: 'bad', names: ['bad', 'live'] }),
      appendFilesNamed(catalog, table, { id: 'b', names: ['b'] }),
      appendFilesNamed(catalog, table, { id: 'live', names: ['x'] }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 409, 200, 200])
    expect(await liveNames(catalog, table)).toEqual(['a', 'b', 'live'])
    const retried = await appendFilesNamed(catalog, table, { id: 'bad', names: ['bad'] })
    expect(textAt(retried.json, 'outcome')).toBe('added')
  })
})
