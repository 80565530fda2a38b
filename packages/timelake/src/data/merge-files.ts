import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { DataFile } from '@timelake/iceberg/manifest/data-file'
import { CorruptFileError } from '@timelake/iceberg/spec/errors'
import { invariant } from '@timelake/iceberg/spec/invariant'
import type { PartitionSpec } from '@timelake/iceberg/spec/partition-spec'
import type { Schema } from '@timelake/iceberg/spec/schema'
import type { MergeOrder } from '../contract/merge-order.ts'
import type { MetricsMode } from '../contract/metrics-mode.ts'
import { columnFacts, measureSql } from './column-facts.ts'
import { columnMetrics, splitOffsets } from '../footer/column-metrics.ts'
import type { EngineRow } from './duckdb.ts'
import { inputObstacle } from './input-obstacle.ts'
import type { MergeProcess } from './merge-process.ts'
import { checksumSql, copySql } from './merge-sql.ts'
import { readFooter } from './read-footer.ts'
import { verifyChecksums, verifyMerge, type MergeInput } from './verify-merge.ts'

/** Files that one statement opens; more are merged in tiers. */
export const MERGE_FAN_IN_MAX = 64
/** Footers read at the same time. */
const FOOTER_READS_MAX = 16

export interface MergeFilesRequest {
  /** In the order that rows keep when there is no merge order. At least one row among them. */
  readonly inputs: readonly { readonly dataFile: DataFile; readonly localPath: string }[]
  readonly schema: Schema
  /** The spec that every input was written with. */
  readonly spec: PartitionSpec | undefined
  readonly order: MergeOrder
  readonly modes: ReadonlyMap<number, MetricsMode>
  /** For intermediate files; must exist. Local. */
  readonly directory: string
  /** The file to write, in `directory`. Removed again when the merge fails. */
  readonly outputPath: string
}

/** Everything that a manifest entry says of the output but its location and partition. */
export type MergedFile = Omit<DataFile, 'content' | 'filePath' | 'partition'>

export type MergeFilesOutcome =
  | { readonly outcome: 'merged'; readonly file: MergedFile }
  | { readonly outcome: 'skipped'; readonly reason: string }

/**
 * Merges local Parquet files into one and proves it: counts, nulls and bounds by footers and manifests, and checksums by
 * a second read of both sides. `skipped` names an input that cannot be merged exactly. Throws MergeMismatchError when the
 * output is wrong, MergeEngineError when the engine failed, the signal's reason when it was aborted.
 */
export async function mergeFiles(
  engine: MergeProcess,
  request: MergeFilesRequest,
  signal?: AbortSignal,
): Promise<MergeFilesOutcome> {
  const inputs = await readInputs(request, signal)
  if (typeof inputs === 'string') return { outcome: 'skipped', reason: inputs }
  const { schema } = request
  const localPaths = request.inputs.map(({ localPath }) => localPath)
  const before = oneRow(await engine.query(checksumSql(localPaths, schema), signal))
  try {
    const hasNegativeZero = before['negative_zeros'] !== 0n
    await mergeInTiers(engine, { ...request, hasNegativeZero }, signal)
    const merged = { request, inputs, before }
    return { outcome: 'merged', file: await proveAndDescribe(engine, merged, signal) }
  } catch (cause) {
    await rm(request.outputPath, { force: true })
    throw cause
  }
}

/** The inputs' footers, or why one of them must not be merged. */
async function readInputs(
  request: MergeFilesRequest,
  signal: AbortSignal | undefined,
): Promise<readonly MergeInput[] | string> {
  const inputs: MergeInput[] = []
  for (const chunk of chunks(request.inputs, FOOTER_READS_MAX)) {
    signal?.throwIfAborted()
    const read = await Promise.all(chunk.map((input) => readInput(input)))
    for (const input of read) {
      if (typeof input === 'string') return input
      const reason = inputObstacle(input.footer, request.schema, request.spec)
      if (reason !== undefined) return `file ${input.dataFile.filePath} ${reason}`
      inputs.push(input)
    }
  }
  return inputs
}

async function readInput(input: MergeFilesRequest['inputs'][number]): Promise<MergeInput | string> {
  try {
    const { footer } = await readFooter(input.localPath)
    return { dataFile: input.dataFile, footer }
  } catch (cause) {
    if (!(cause instanceof CorruptFileError)) throw cause
    const why = cause.cause instanceof Error ? cause.cause.message : cause.message
    return `file ${input.dataFile.filePath} cannot be read: ${why}`
  }
}

/** Merges at most MERGE_FAN_IN_MAX files at a time into intermediate files, then those, until one is left. */
async function mergeInTiers(
  engine: MergeProcess,
  request: MergeFilesRequest & { readonly hasNegativeZero: boolean },
  signal: AbortSignal | undefined,
): Promise<void> {
  const { schema, order, directory, outputPath, hasNegativeZero } = request
  const shape = { schema, order, hasNegativeZero }
  let paths = request.inputs.map(({ localPath }) => localPath)
  const intermediates: string[] = []
  try {
    for (let tier = 0; paths.length > MERGE_FAN_IN_MAX; tier++) {
      const next: string[] = []
      for (const [index, inputPaths] of chunks(paths, MERGE_FAN_IN_MAX).entries()) {
        const path = join(directory, `tier-${tier}-${index}.parquet`)
        intermediates.push(path)
        await engine.query(copySql({ ...shape, inputPaths, outputPath: path }), signal)
        next.push(path)
      }
      paths = next
    }
    await engine.query(copySql({ ...shape, inputPaths: paths, outputPath }), signal)
  } finally {
    await Promise.all(intermediates.map((path) => rm(path, { force: true })))
  }
}

interface Merged {
  readonly request: MergeFilesRequest
  readonly inputs: readonly MergeInput[]
  /** The checksums of the inputs. */
  readonly before: EngineRow
}

async function proveAndDescribe(
  engine: MergeProcess,
  { request, inputs, before }: Merged,
  signal: AbortSignal | undefined,
): Promise<MergedFile> {
  const { schema, modes, outputPath, order } = request
  const { footer, fileSizeBytes } = await readFooter(outputPath)
  const sql = measureSql(outputPath, schema, modes)
  const measured = sql === undefined ? {} : oneRow(await engine.query(sql, signal))
  const facts = columnFacts(footer, schema, measured)
  verifyMerge(inputs, { footer, facts }, schema)
  verifyChecksums(before, oneRow(await engine.query(checksumSql([outputPath], schema), signal)))
  return {
    fileFormat: 'PARQUET',
    recordCount: footer.rowCount,
    fileSizeBytes,
    ...columnMetrics(facts, schema, modes),
    splitOffsets: splitOffsets(footer),
    ...(order.orderId > 0 ? { sortOrderId: order.orderId } : {}),
  }
}

function oneRow(rows: readonly EngineRow[]): EngineRow {
  const [row] = rows
  invariant(row !== undefined && rows.length === 1, `expected one row, got ${rows.length}`)
  return row
}

function chunks<T>(values: readonly T[], length: number): readonly (readonly T[])[] {
  const parts: (readonly T[])[] = []
  for (let start = 0; start < values.length; start += length) {
    parts.push(values.slice(start, start + length))
  }
  return parts
}
