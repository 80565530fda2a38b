import type { ResolvedEntry } from '../manifest/data-file.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import { partitionKey, partitionType } from '../manifest/partition-type.ts'
import type { PartitionSpec } from '../spec/partition-spec.ts'
import { schemasNewestFirst } from './new-snapshot.ts'
import type { RewriteFiles, RewriteInput } from './rewrite-request.ts'

export type RewriteRefusalReason =
  /** v3: moved rows must keep their row ids, which files without lineage columns cannot. */
  | 'row-lineage'
  /** Key metadata or an encrypted manifest list; outputs would be plain text. */
  | 'encrypted'
  /** The spec is gone, or has a transform or value type that cannot be written for every reader. */
  | 'unwritable-spec'
  /** An input was replaced or deleted meanwhile, or never was in the table. */
  | 'inputs-not-live'
  /** A path is live more than once, so its rows count twice. */
  | 'input-listed-twice'
  | 'inputs-of-another-spec'
  /** A manifest holds fewer or more entries than its list entry says: a damaged or half-read file. */
  | 'manifest-counts'
  /** A delete file applies to an input, but would not apply to the outputs in the same way. */
  | 'row-level-deletes'
  /** The outputs do not hold as many rows as the inputs. */
  | 'row-count'

/** Why a rewrite must not happen on this head. Planning again on it can succeed. */
export interface RewriteRefusal {
  readonly reason: RewriteRefusalReason
  readonly expected: string
  readonly found: string
  /** A sentence with both. */
  readonly message: string
}

const NAMES_IN_MESSAGE_MAX = 3

/** The first reason why the rewrite would lose, double, reveal or damage rows; undefined when there is none. */
export function findRewriteRefusal(
  rewrite: RewriteFiles,
  spec: PartitionSpec | undefined,
  inputs: readonly RewriteInput[],
): RewriteRefusal | undefined {
  return (
    lineageRefusal(rewrite) ??
    specRefusal(rewrite, spec) ??
    livenessRefusal(rewrite, inputs) ??
    inputSpecRefusal(rewrite, inputs) ??
    encryptionRefusal(rewrite, inputs) ??
    countsRefusal(rewrite, inputs) ??
    deletesRefusal(rewrite, inputs) ??
    rowCountRefusal(rewrite, inputs)
  )
}

function refusal(reason: RewriteRefusalReason, expected: string, found: string): RewriteRefusal {
  return {
    reason,
    expected,
    found,
    message: `cannot replace files: expected ${expected}, found ${found}`,
  }
}

function lineageRefusal({ metadata }: RewriteFiles): RewriteRefusal | undefined {
  if (metadata.formatVersion < 3) return undefined
  return refusal(
    'row-lineage',
    'a table of format version 1 or 2',
    `version ${metadata.formatVersion}, whose rows have ids`,
  )
}

function specRefusal(
  rewrite: RewriteFiles,
  spec: PartitionSpec | undefined,
): RewriteRefusal | undefined {
  if (spec === undefined) {
    return refusal('unwritable-spec', `partition spec ${rewrite.specId}`, 'none in the table')
  }
  const unknown = spec.fields.find((field) => field.transform.kind === 'unknown-transform')
  if (unknown !== undefined) {
    return refusal('unwritable-spec', 'known transforms', `an unknown one in field ${unknown.name}`)
  }
  // Java reads and writes such partition values in a form of its own, so no manifest would suit every reader.
  const types = partitionType(spec, schemasNewestFirst(rewrite.metadata))
  const fixed = types.fields.find(({ type }) => type.kind === 'fixed')
  if (fixed === undefined) return undefined
  return refusal('unwritable-spec', 'no partition values of type fixed', `field ${fixed.name}`)
}

function livenessRefusal(
  rewrite: RewriteFiles,
  inputs: readonly RewriteInput[],
): RewriteRefusal | undefined {
  const wanted = new Set(rewrite.inputPaths)
  const live = new Set(inputs.map(({ entry }) => entry.dataFile.filePath))
  const missing = [...wanted].filter((path) => !live.has(path))
  if (wanted.size === 0 || missing.length > 0) {
    const names = missing.slice(0, NAMES_IN_MESSAGE_MAX).join(', ')
    const found = missing.length === 0 ? 'none' : `${live.size}; not live: ${names}`
    return refusal('inputs-not-live', `${Math.max(wanted.size, 1)} live inputs`, found)
  }
  if (live.size === inputs.length && wanted.size === rewrite.inputPaths.length) return undefined
  return refusal(
    'input-listed-twice',
    `each input once`,
    `${inputs.length} entries of ${live.size} files`,
  )
}

function inputSpecRefusal(
  rewrite: RewriteFiles,
  inputs: readonly RewriteInput[],
): RewriteRefusal | undefined {
  const other = inputs.find(({ manifest }) => manifest.partitionSpecId !== rewrite.specId)
  if (other === undefined) return undefined
  return refusal(
    'inputs-of-another-spec',
    `inputs of spec ${rewrite.specId}`,
    `${other.entry.dataFile.filePath} of spec ${other.manifest.partitionSpecId}`,
  )
}

function encryptionRefusal(
  rewrite: RewriteFiles,
  inputs: readonly RewriteInput[],
): RewriteRefusal | undefined {
  const isEncrypted =
    rewrite.parent.keyId !== undefined ||
    inputs.some(
      ({ manifest, entry }) => (manifest.keyMetadata ?? entry.dataFile.keyMetadata) !== undefined,
    )
  if (!isEncrypted) return undefined
  return refusal('encrypted', 'plain files', 'encrypted ones')
}

function countsRefusal(
  rewrite: RewriteFiles,
  inputs: readonly RewriteInput[],
): RewriteRefusal | undefined {
  for (const manifest of new Set(inputs.map((input) => input.manifest))) {
    const entries = rewrite.entriesByManifest.get(manifest.manifestPath) ?? []
    const live = entries.filter(({ status }) => status !== 'deleted').length
    const { addedFilesCount, existingFilesCount } = manifest
    if (addedFilesCount === undefined || existingFilesCount === undefined) continue
    const listed = addedFilesCount + existingFilesCount
    if (listed === live) continue
    return refusal(
      'manifest-counts',
      `${listed} live files in ${manifest.manifestPath}`,
      String(live),
    )
  }
  return undefined
}

function rowCountRefusal(
  rewrite: RewriteFiles,
  inputs: readonly RewriteInput[],
): RewriteRefusal | undefined {
  const rowsIn = inputs.reduce((sum, { entry }) => sum + entry.dataFile.recordCount, 0n)
  const rowsOut = rewrite.outputs.reduce((sum, file) => sum + file.recordCount, 0n)
  if (rowsIn === rowsOut) return undefined
  return refusal('row-count', `${rowsIn} rows in the outputs`, String(rowsOut))
}

function deletesRefusal(
  rewrite: RewriteFiles,
  inputs: readonly RewriteInput[],
): RewriteRefusal | undefined {
  const scope = deleteScope(rewrite, inputs)
  for (const manifest of rewrite.parentManifests) {
    if (manifest.content !== 'deletes' || !mayHoldLive(manifest)) continue
    // No delete in it is newer than the manifest, and deletes never reach newer data.
    if (manifest.sequenceNumber < scope.lowestSequence) continue
    const entries = rewrite.entriesByManifest.get(manifest.manifestPath)
    if (entries === undefined) {
      return refusal(
        'row-level-deletes',
        'no deletes that may apply',
        `delete manifest ${manifest.manifestPath}`,
      )
    }
    const conflict = entries.find((entry) => isConflict(manifest, entry, scope))
    if (conflict === undefined) continue
    return refusal(
      'row-level-deletes',
      'no deletes of the inputs',
      `${conflict.dataFile.content} ${conflict.dataFile.filePath}`,
    )
  }
  return undefined
}

function mayHoldLive(manifest: ManifestFile): boolean {
  return manifest.addedFilesCount !== 0 || manifest.existingFilesCount !== 0
}

interface DeleteScope {
  readonly specId: number
  readonly unpartitionedSpecIds: ReadonlySet<number>
  readonly partitions: ReadonlySet<string>
  readonly paths: ReadonlySet<string>
  readonly lowestSequence: bigint
  readonly highestSequence: bigint
}

function deleteScope(rewrite: RewriteFiles, inputs: readonly RewriteInput[]): DeleteScope {
  const sequences = inputs.map(({ entry }) => entry.sequenceNumber)
  const first = sequences[0] ?? 0n
  return {
    specId: rewrite.specId,
    unpartitionedSpecIds: new Set(
      rewrite.metadata.partitionSpecs
        .filter((spec) => spec.fields.every((field) => field.transform.kind === 'void'))
        .map((spec) => spec.specId),
    ),
    partitions: new Set(inputs.map(({ entry }) => partitionKey(entry.dataFile.partition))),
    paths: new Set(rewrite.inputPaths),
    lowestSequence: sequences.reduce((low, sequence) => (sequence < low ? sequence : low), first),
    highestSequence: sequences.reduce(
      (high, sequence) => (sequence > high ? sequence : high),
      first,
    ),
  }
}

/**
 * Whether a live delete reaches an input but not the outputs. A position delete names rows of a file that goes
 * away. An equality delete reaches data of a lower sequence number: all inputs and so the outputs, or none of them, or some.
 */
function isConflict(manifest: ManifestFile, entry: ResolvedEntry, scope: DeleteScope): boolean {
  if (entry.status === 'deleted') return false
  const { content, partition, referencedDataFile } = entry.dataFile
  const isGlobal =
    content === 'equality-deletes' && scope.unpartitionedSpecIds.has(manifest.partitionSpecId)
  const isSamePartition =
    manifest.partitionSpecId === scope.specId && scope.partitions.has(partitionKey(partition))
  if (!isGlobal && !isSamePartition) return false
  if (content === 'equality-deletes') {
    return (
      scope.lowestSequence < entry.sequenceNumber && entry.sequenceNumber <= scope.highestSequence
    )
  }
  const isOfInput = referencedDataFile === undefined || scope.paths.has(referencedDataFile)
  return isOfInput && entry.sequenceNumber >= scope.lowestSequence
}
