import type { LandedBatch } from '@timelake/database/append-batches'
import { isPartitionValueOf, partitionType } from '@timelake/iceberg/manifest/partition-type'
import { schemasNewestFirst } from '@timelake/iceberg/snapshot/new-snapshot'
import { ValidationFailedError } from '@timelake/iceberg/spec/errors'
import { isLocationBelow, normalizeLocation } from '@timelake/iceberg/spec/location'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { tableRoots } from '@timelake/iceberg/spec/table-roots'
import type { AppendBranch } from './append-branch.ts'
import { FileAlreadyLiveError } from './catalog-errors.ts'
import type { AppendIntent, AppendVerdict } from './append-intent.ts'

export interface AppendCandidates {
  readonly metadata: TableMetadata
  /** Of all the intents, or why nothing can be appended to it. */
  readonly branch: AppendBranch | Error
  readonly intents: readonly AppendIntent[]
  /** The landed ones among their batches. */
  readonly batches: ReadonlyMap<string, LandedBatch>
}

export interface AdmittedAppends {
  /** One for each intent, in their order. */
  readonly verdicts: readonly AppendVerdict[]
  /** The intents that add something. */
  readonly admitted: readonly AppendIntent[]
}

/**
 * Decides about the intents one after the other, each on what those before it leave. A batch lands once in a table,
 * whatever files a repetition brings. Refused are all when the branch cannot be appended to; ValidationFailedError when
 * the table has no such spec (any more) or a file does not fit it, lies outside the table's folders or is named twice;
 * FileAlreadyLiveError when a file is live on the branch or comes with an intent before.
 */
export function admitAppends(candidates: AppendCandidates): AdmittedAppends {
  const { branch, intents, batches } = candidates
  const landed = new Map([...batches].map(([batchId, { snapshotId }]) => [batchId, snapshotId]))
  const admitted: AppendIntent[] = []
  const taken = new Set<string>()
  const findMisfit = misfitTest(candidates.metadata)
  const verdicts = intents.map((intent): AppendVerdict => {
    const before = landed.get(intent.batchId)
    if (before !== undefined) return { outcome: 'landed-before', snapshotId: before }
    if (branch instanceof Error) return { outcome: 'refused', error: branch }
    const paths = intent.files.map(({ filePath }) => normalizeLocation(filePath))
    const error = findMisfit(intent) ?? findClash(paths, branch, taken)
    if (error !== undefined) return { outcome: 'refused', error }
    for (const path of paths) taken.add(path)
    admitted.push(intent)
    landed.set(intent.batchId, branch.snapshotId)
    return { outcome: 'added', snapshotId: branch.snapshotId }
  })
  return { verdicts, admitted }
}

function findClash(
  paths: readonly string[],
  { name, live }: AppendBranch,
  taken: ReadonlySet<string>,
): Error | undefined {
  const known = new Set<string>()
  for (const path of paths) {
    if (live.has(path)) return new FileAlreadyLiveError(path, `live on branch ${name}`)
    if (taken.has(path)) return new FileAlreadyLiveError(path, 'appended by another batch')
    if (known.has(path))
      return new ValidationFailedError(`cannot append ${path}: it is named twice`)
    known.add(path)
  }
  return undefined
}

/** The table may have changed since the files were resolved. */
function misfitTest(metadata: TableMetadata): (intent: AppendIntent) => Error | undefined {
  const roots = tableRoots(metadata)
  const schemas = schemasNewestFirst(metadata)
  const types = new Map(
    metadata.partitionSpecs.map((spec) => [spec.specId, partitionType(spec, schemas).fields]),
  )
  return ({ specId, files }) => {
    const fields = types.get(specId)
    if (fields === undefined) {
      return new ValidationFailedError(`cannot append: the table has no partition spec ${specId}`)
    }
    for (const { filePath, partition } of files) {
      const isFitting =
        partition.length === fields.length &&
        fields.every(({ type }, index) => isPartitionValueOf(type, partition[index] ?? null))
      if (!isFitting) {
        return new ValidationFailedError(
          `cannot append ${filePath}: its partition does not fit spec ${specId}`,
        )
      }
      if (roots.some((root) => isLocationBelow(root, filePath))) continue
      return new ValidationFailedError(
        `cannot append ${filePath}: expected a location below ${roots.join(' or ')}`,
      )
    }
    return undefined
  }
}
