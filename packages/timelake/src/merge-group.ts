import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { DataFile } from '@timelake/iceberg/manifest/data-file'
import { joinLocation } from '@timelake/iceberg/spec/location'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import type { CompactionContext } from './compaction-context.ts'
import { currentSchema, DATA_PATH_PROPERTY } from './contract/compaction-obstacle.ts'
import type { MergeOrder } from './contract/merge-order.ts'
import { metricsModes } from './contract/metrics-mode.ts'
import type { CompactionGroup } from './contract/compaction-plan.ts'
import { printBytes } from './contract/quantity.ts'
import { mergeFiles, type MergeFilesRequest } from './data/merge-files.ts'
import { putOutput } from './put-output.ts'

/** Inputs fetched at the same time. */
const FETCHES_MAX = 8
/** What a merge keeps on the local disk, in sizes of its inputs: their copies, one tier of intermediate files, the output. */
const LOCAL_COPIES = 3n

/** A group with the place of its output; none when no input has a row. */
export interface PlacedGroup {
  readonly group: CompactionGroup
  readonly outputLocation?: string
}

export type MergedGroup =
  | {
      readonly outcome: 'merged'
      readonly group: CompactionGroup
      readonly outputs: readonly DataFile[]
    }
  | { readonly outcome: 'skipped'; readonly reason: string }

/** Gives each group an output location with an unguessable name in the table's data folder. */
export function placeGroups(
  groups: readonly CompactionGroup[],
  metadata: TableMetadata,
  newUuid: () => string,
): readonly PlacedGroup[] {
  const folder = metadata.properties[DATA_PATH_PROPERTY] || joinLocation(metadata.location, 'data')
  return groups.map((group) =>
    group.estimatedOutputCount === 0
      ? { group }
      : { group, outputLocation: joinLocation(folder, `compacted-${newUuid()}.parquet`) },
  )
}

/**
 * Merges one group in the child process and stores the verified output. `skipped` names an input that cannot be merged
 * exactly, or says that the local disk is too small for the group; nothing was stored then. Throws what mergeFiles, the store and the signal throw.
 */
export async function mergeGroup(
  context: CompactionContext,
  placed: PlacedGroup,
  table: { readonly metadata: TableMetadata; readonly order: MergeOrder },
): Promise<MergedGroup> {
  const { group, outputLocation } = placed
  if (outputLocation === undefined) return { outcome: 'merged', group, outputs: [] }
  const tooLarge = diskObstacle(group, context.diskBytesMax)
  if (tooLarge !== undefined) return { outcome: 'skipped', reason: tooLarge }
  const directory = join(context.directory, context.newUuid())
  await mkdir(directory)
  try {
    const outputPath = join(directory, 'merged.parquet')
    const merged = await mergeFiles(
      context.engine,
      await requestOf(context, { group, directory, outputPath }, table),
      context.signal,
    )
    if (merged.outcome === 'skipped') return merged
    context.reachFaultPoint('compaction.merged')
    const sizeBytes = Number(merged.file.fileSizeBytes)
    await putOutput(context.store, outputLocation, { localPath: outputPath, sizeBytes })
    const { partition } = group
    const output = { content: 'data' as const, filePath: outputLocation, partition, ...merged.file }
    return { outcome: 'merged', group, outputs: [output] }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

function diskObstacle(
  { inputs, inputSizeBytes }: CompactionGroup,
  diskBytesMax: number,
): string | undefined {
  const neededBytes = inputSizeBytes * LOCAL_COPIES
  if (neededBytes <= BigInt(diskBytesMax)) return undefined
  return (
    `merging ${inputs.length} files takes ${printBytes(Number(neededBytes))} of local disk, ` +
    `and a job may take ${printBytes(diskBytesMax)}`
  )
}

interface GroupFiles {
  readonly group: CompactionGroup
  readonly directory: string
  readonly outputPath: string
}

async function requestOf(
  context: CompactionContext,
  files: GroupFiles,
  { metadata, order }: { readonly metadata: TableMetadata; readonly order: MergeOrder },
): Promise<MergeFilesRequest> {
  const { group, directory, outputPath } = files
  const schema = currentSchema(metadata)
  const sortOrder = metadata.sortOrders.find(
    ({ orderId }) => orderId === metadata.defaultSortOrderId,
  )
  return {
    inputs: await fetchInputs(context, group, directory),
    schema,
    spec: metadata.partitionSpecs.find(({ specId }) => specId === group.specId),
    order,
    modes: metricsModes(schema, sortOrder, metadata.properties),
    directory,
    outputPath,
  }
}

async function fetchInputs(
  { store, signal }: CompactionContext,
  group: CompactionGroup,
  directory: string,
) {
  const inputs: { dataFile: DataFile; localPath: string }[] = []
  for (let start = 0; start < group.inputs.length; start += FETCHES_MAX) {
    signal.throwIfAborted()
    const chunk = group.inputs.slice(start, start + FETCHES_MAX)
    const fetched = chunk.map(async ({ entry: { dataFile } }) => {
      const localPath = await store.localFile(dataFile.filePath, directory, signal)
      return { dataFile, localPath }
    })
    inputs.push(...(await Promise.all(fetched)))
  }
  return inputs
}
