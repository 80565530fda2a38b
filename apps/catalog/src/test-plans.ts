import type { DataFile } from '@timelake/iceberg/manifest/data-file'
import { encodeCommitRequest } from '@timelake/iceberg/rest/commit-json'
import { appendFiles } from '@timelake/iceberg/snapshot/append-files'
import { isJsonArray, printJson } from '@timelake/iceberg/spec/json'
import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import { encodeSingleValue } from '@timelake/iceberg/spec/single-value'
import { decodeTableMetadata } from '@timelake/iceberg/spec/table-metadata-json'
import { expect } from 'vitest'
import type { TestAnswer, TestCall, TestCatalog } from './open-test-catalog.ts'
import { member, textAt } from './test-json.ts'
import { makeTable, type TestTable } from './test-tables.ts'

const DAY_MICROS = 86_400_000_000n

/** A table that is partitioned by the day of `ts`, empty; its namespace is there. */
export function makeDayTable(
  catalog: TestCatalog,
  name: string,
  { levels = ['ns'], more = {} }: { levels?: readonly string[]; more?: JsonObject } = {},
): Promise<TestTable> {
  const field = { name: 'day', transform: 'day', 'source-id': 10n, 'field-id': 1000n }
  const spec = { 'spec-id': 0n, fields: [field] }
  return makeTable(catalog, { levels, name, more: { 'partition-spec': spec, ...more } })
}

/** Files to append at once, one for each day since the epoch; `value` goes from the day to the day and a half. */
export interface DayAppend {
  readonly snapshotId: bigint
  readonly days: readonly number[]
  readonly alter?: (file: DataFile) => DataFile
  /** Where the manifests go; the list that names them stays with the table. */
  readonly manifestFolder?: string
}

/** Commits a snapshot of exactly these files, with manifests that can be read; the files themselves are missing. */
export async function appendDays(
  catalog: TestCatalog,
  table: TestTable,
  { snapshotId, days, alter = (file) => file, manifestFolder }: DayAppend,
): Promise<void> {
  const ownFolder = `${table.location}/metadata`
  const folderOf = (name: string) =>
    name.startsWith('snap-') ? ownFolder : (manifestFolder ?? ownFolder)
  const answer = await catalog.call('GET', `${table.path}?snapshots=refs`)
  const text = printJson(member(answer.json, 'metadata'))
  const metadata = decodeTableMetadata(new TextEncoder().encode(text))
  const parent = metadata.snapshots.find((each) => each.snapshotId === metadata.currentSnapshotId)
  const written = appendFiles({
    metadata,
    ...(parent && { parent }),
    parentManifests: [],
    files: days.map((day) => alter(dayFile(table, day))),
    identity: {
      snapshotId,
      timestampMs: catalog.clock.nowMs(),
      commitUuid: `00000000-0000-4000-8000-${String(snapshotId).slice(-12).padStart(12, '0')}`,
      fileLocation: (name) => `${folderOf(name)}/${name}`,
    },
  })
  for (const { location, bytes } of [...written.manifests, written.manifestList]) {
    await catalog.store.putIfAbsent(location, bytes)
  }
  const body = encodeCommitRequest({
    requirements: [],
    updates: [
      { action: 'add-snapshot', snapshot: written.snapshot },
      { action: 'set-snapshot-ref', refName: 'main', ref: { type: 'branch', snapshotId } },
    ],
  })
  const landed = await catalog.call('POST', table.path, { body })
  expect(landed.status, landed.text).toBe(200)
}

function dayFile(table: TestTable, day: number): DataFile {
  const bounds = (micros: bigint, value: number) =>
    new Map([
      [1, encodeSingleValue({ kind: 'timestamptz' }, BigInt(day) * DAY_MICROS + micros)],
      [2, encodeSingleValue({ kind: 'double' }, value)],
    ])
  return {
    content: 'data',
    filePath: `${table.location}/data/${day}.parquet`,
    fileFormat: 'PARQUET',
    partition: [day],
    recordCount: 10n,
    fileSizeBytes: 1_000n,
    splitOffsets: [4n],
    nanValueCounts: new Map([[2, 0n]]),
    lowerBounds: bounds(1n, day),
    upperBounds: bounds(9n, day + 0.5),
  }
}

/** Asks for a plan. */
export function plan(
  catalog: TestCatalog,
  table: Pick<TestTable, 'path'>,
  body: JsonValue,
  call: TestCall = {},
): Promise<TestAnswer> {
  return catalog.call('POST', `${table.path}/plan`, { ...call, body })
}

/** Exchanges a plan task. */
export function tasks(
  catalog: TestCatalog,
  table: Pick<TestTable, 'path'>,
  planTask: JsonValue,
): Promise<TestAnswer> {
  return catalog.call('POST', `${table.path}/tasks`, { body: { 'plan-task': planTask } })
}

/** The names of the files in an answer's scan tasks, without folder and ending. */
export function plannedFiles(answer: { readonly json: JsonValue | undefined }): string[] {
  const found = listOf(answer.json, 'file-scan-tasks')
  return found.map((task) =>
    textAt(task, 'data-file', 'file-path').replace(/^.*\/([^/]*)\.parquet$/, '$1'),
  )
}

/** The plan tasks of an answer. */
export function planTasks(answer: { readonly json: JsonValue | undefined }): string[] {
  return listOf(answer.json, 'plan-tasks').map((each) => String(each))
}

/** A member that is a list, none when it is absent. */
function listOf(json: JsonValue | undefined, name: string): readonly JsonValue[] {
  const value = (json as JsonObject)[name] ?? [] // `as`: answers are objects
  if (!isJsonArray(value)) throw new Error(`${name} is not a list`)
  return value
}
