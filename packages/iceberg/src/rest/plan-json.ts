import { decodeExpression } from '../expressions/expression-json.ts'
import { ALWAYS_TRUE, type Expression } from '../expressions/expression.ts'
import type { ScanAsk } from '../scan/scan-source.ts'
import { InvalidInputError } from '../spec/errors.ts'
import {
  bool,
  type Filled,
  list,
  long,
  nonNegativeLong,
  object,
  optional,
  text,
} from '../spec/decode.ts'
import { printJson } from '../spec/json.ts'
import type { JsonValue } from '../spec/json-value.ts'
import { encodeError, type ErrorModel } from './error-json.ts'
import type { StorageCredential } from './load-table-json.ts'

/** Names in one list of a request. */
const NAMES_MAX = 100_000

/** What a client asks to plan. Spec: REST catalog, PlanTableScanRequest. */
export interface PlanRequest {
  readonly source: ScanAsk
  /** Full names of columns; absent: all. */
  readonly select?: readonly string[]
  readonly filter: Expression
  readonly isCaseSensitive: boolean
  /** Columns whose metrics come with the files; absent: none. */
  readonly statsFields?: readonly string[]
  /** So many rows are enough. */
  readonly minRowsRequested?: bigint
}

/** Reads a request. Throws InvalidInputError naming the member; members that it does not know are passed over. */
export function decodePlanRequest(json: JsonValue): PlanRequest {
  const raw = object(json, 'request')
  const filter = raw['filter']
  const request: Filled<PlanRequest> = {
    source: decodeSource(json),
    filter:
      filter === undefined || filter === null ? ALWAYS_TRUE : decodeExpression(filter, 'filter'),
    isCaseSensitive: optional(raw['case-sensitive'], 'case-sensitive', bool) ?? true,
  }
  const select = optional(raw['select'], 'select', decodeNames)
  if (select !== undefined) request.select = select
  const statsFields = optional(raw['stats-fields'], 'stats-fields', decodeNames)
  if (statsFields !== undefined) request.statsFields = statsFields
  const rows = optional(raw['min-rows-requested'], 'min-rows-requested', nonNegativeLong)
  if (rows !== undefined) request.minRowsRequested = rows
  return request
}

function decodeSource(json: JsonValue): ScanAsk {
  const raw = object(json, 'request')
  const source: Filled<ScanAsk> = {}
  const snapshotId = optional(raw['snapshot-id'], 'snapshot-id', long)
  if (snapshotId !== undefined) source.snapshotId = snapshotId
  const startSnapshotId = optional(raw['start-snapshot-id'], 'start-snapshot-id', long)
  if (startSnapshotId !== undefined) source.startSnapshotId = startSnapshotId
  const endSnapshotId = optional(raw['end-snapshot-id'], 'end-snapshot-id', long)
  if (endSnapshotId !== undefined) source.endSnapshotId = endSnapshotId
  const isOwn = optional(raw['use-snapshot-schema'], 'use-snapshot-schema', bool)
  if (isOwn !== undefined) source.useSnapshotSchema = isOwn
  return source
}

function decodeNames(json: JsonValue | undefined, path: string): string[] {
  const names = list(json, path, text)
  if (names.length <= NAMES_MAX) return names
  throw new InvalidInputError(`expected at most ${NAMES_MAX} names, got ${names.length}`, path)
}

/** Reads the one member of a FetchScanTasksRequest. Throws InvalidInputError. */
export function decodeFetchTasksRequest(json: JsonValue): string {
  return text(object(json, 'request')['plan-task'], 'plan-task')
}

/** The outcome of a plan as the body of an answer. Spec: REST catalog, PlanTableScanResult, FetchPlanningResult. */
export type PlanResult =
  | {
      readonly status: 'completed'
      /** Absent in the answer to a poll. */
      readonly planId?: string
      /** Members of ScanTasks, see encodeScanTasks; absent when all of them are behind plan tasks. */
      readonly tasksText?: string
      readonly planTasks: readonly string[]
      readonly storageCredentials: readonly StorageCredential[]
    }
  | { readonly status: 'submitted'; readonly planId?: string }
  | { readonly status: 'failed'; readonly error: ErrorModel }

/** The text of a PlanResult. */
export function encodePlanResult(result: PlanResult): string {
  const members = [`"status":"${result.status}"`]
  if (result.status === 'failed') {
    members.push(`"error":${printJson(encodeError(result.error)['error'] ?? null)}`)
    return `{${members.join(',')}}`
  }
  if (result.planId !== undefined) members.push(`"plan-id":${printJson(result.planId)}`)
  if (result.status === 'completed') {
    if (result.planTasks.length > 0) members.push(`"plan-tasks":${printJson(result.planTasks)}`)
    if (result.tasksText !== undefined) members.push(result.tasksText)
    if (result.storageCredentials.length > 0) {
      const credentials = result.storageCredentials.map(({ prefix, config }) => ({
        prefix,
        config,
      }))
      members.push(`"storage-credentials":${printJson(credentials)}`)
    }
  }
  return `{${members.join(',')}}`
}
