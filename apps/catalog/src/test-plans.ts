import type { DataFile } from '@timelake/iceberg/manifest/data-file'
import { isJsonArray } from '@timelake/iceberg/spec/json'
import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import { encodeSingleValue } from '@timelake/iceberg/spec/single-value'
import type { TestAnswer, TestCall, TestCatalog } from './open-test-catalog.ts'
import { textAt } from './test-json.ts'
import { appendTestFiles, type TestAppend } from './test-real-append.ts'
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
export interface DayAppend extends Omit<TestAppend, 'files'> {
  readonly days: readonly number[]
  readonly alter?: (file: DataFile) => DataFile
}

/** Commits a snapshot of exactly these files, see appendTestFiles. */
export async function appendDays(
  catalog: TestCatalog,
  table: TestTable,
  { days, alter = (file) => file, ...append }: DayAppend,
): Promise<void> {
  const files = days.map((day) => alter(dayFile(table, day)))
  await appendTestFiles(catalog, table, { ...append, files })
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
