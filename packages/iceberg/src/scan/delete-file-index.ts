import type { DataFile } from '../manifest/data-file.ts'
import { partitionKey } from '../manifest/partition-type.ts'
import { CorruptFileError } from '../spec/errors.ts'
import { decodeSingleValue } from '../spec/single-value.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'
import { equalityOverlap, type EqualityOverlap } from './equality-overlap.ts'
import type { ScanManifest } from './scan-manifest.ts'

/** A delete file that applies to a data file: one object for all the data files that it applies to. */
export interface DeleteFile {
  /** Its path and, of a deletion vector, offset and size, for many of them share one file. */
  readonly key: string
  readonly manifest: ScanManifest
  readonly row: number
  readonly specId: number
  /** The data sequence number. */
  readonly sequenceNumber: bigint
  readonly file: DataFile
}

/** The delete files of a snapshot by what they can apply to. Spec: Scan Planning. */
export interface DeleteFileIndex {
  readonly isEmpty: boolean
  /** Columns whose metrics in a data file are compared with those of equality deletes, each once. */
  readonly equalityFieldIds: readonly number[]
  /** The delete files that apply to a data file. Throws CorruptFileError for a deletion vector of no file, or several of one. */
  deletesFor(manifest: ScanManifest, row: number): readonly DeleteFile[]
}

const NONE: readonly DeleteFile[] = []
/** Of the column `file_path` in position delete files. Spec: Reserved Field IDs. */
const DELETE_FILE_PATH_ID = 2_147_483_546

/**
 * Indexes the live entries of delete manifests. The rules are the specification's where it and the Java library agree. Where
 * they do not, Java's: a position delete file that names one data file (by `referenced_data_file`, or by equal bounds of
 * `file_path`) and a deletion vector apply to that path, whatever partition they are recorded under. Equality deletes that
 * cannot touch a file, by nulls and bounds of both, are left out. Throws CorruptFileError.
 */
export function buildDeleteFileIndex(
  manifests: readonly ScanManifest[],
  metadata: TableMetadata,
): DeleteFileIndex {
  return new SortedDeletes(manifests, metadata)
}

/** A row of a delete manifest; the delete file itself is made when it is first attached. */
interface DeleteRef {
  readonly manifest: ScanManifest
  readonly row: number
  readonly sequenceNumber: bigint
  readonly referencedDataFile?: string
  made?: DeleteFile
}

/** Ascending by sequence number. */
type DeleteGroup = DeleteRef[]

class SortedDeletes implements DeleteFileIndex {
  private readonly globalIds: ReadonlySet<number>
  private readonly overlap: EqualityOverlap
  private readonly global: DeleteGroup = []
  private readonly equalities = new Map<string, DeleteGroup>()
  private readonly positions = new Map<string, DeleteGroup>()
  private readonly positionsByPath = new Map<string, DeleteGroup>()
  private readonly vectors = new Map<string, DeleteRef>()
  private readonly groupsByPartition = new WeakMap<ScanManifest, (PartitionGroups | undefined)[]>()
  private readonly fieldIds = new Set<number>()
  readonly isEmpty: boolean

  constructor(manifests: readonly ScanManifest[], metadata: TableMetadata) {
    this.overlap = equalityOverlap(metadata)
    this.globalIds = new Set(
      metadata.partitionSpecs
        .filter((spec) => spec.fields.every(({ transform }) => transform.kind === 'void'))
        .map(({ specId }) => specId),
    )
    this.isEmpty = manifests.every(({ rowCount }) => rowCount === 0)
    for (const manifest of manifests) {
      for (let row = 0; row < manifest.rowCount; row += 1) this.add(manifest, row)
    }
    this.sort()
  }

  private add(manifest: ScanManifest, row: number): void {
    const sequenceNumber = manifest.sequenceNumber(row)
    if (manifest.content(row) === 'equality-deletes') {
      const isGlobal = this.globalIds.has(manifest.specId)
      const group = isGlobal ? this.global : groupOf(this.equalities, partitionOf(manifest, row))
      group.push({ manifest, row, sequenceNumber })
      for (const fieldId of manifest.equalityIds(row) ?? []) this.fieldIds.add(fieldId)
      return
    }
    const referencedDataFile = pathOf(manifest, row)
    if (manifest.fileFormat(row) === 'PUFFIN') {
      if (referencedDataFile === undefined) throw corrupt(manifest, row, 'no referenced_data_file')
      this.addVector({ manifest, row, sequenceNumber, referencedDataFile }, referencedDataFile)
    } else if (referencedDataFile === undefined) {
      groupOf(this.positions, partitionOf(manifest, row)).push({ manifest, row, sequenceNumber })
    } else {
      groupOf(this.positionsByPath, referencedDataFile).push({ manifest, row, sequenceNumber })
    }
  }

  get equalityFieldIds(): readonly number[] {
    return [...this.fieldIds]
  }

  private addVector(vector: DeleteRef, path: string): void {
    const other = this.vectors.get(path)
    if (other !== undefined && made(other).key !== made(vector).key) {
      throw corrupt(vector.manifest, vector.row, `another deletion vector of ${path}`)
    }
    this.vectors.set(path, vector)
  }

  private sort(): void {
    const maps = [this.equalities, this.positions, this.positionsByPath]
    for (const group of [this.global, ...maps.flatMap((map) => [...map.values()])]) {
      group.sort((a, b) => Number(a.sequenceNumber - b.sequenceNumber))
    }
  }

  deletesFor(manifest: ScanManifest, row: number): readonly DeleteFile[] {
    if (this.isEmpty) return NONE
    const sequenceNumber = manifest.sequenceNumber(row)
    const groups = this.groupsOf(manifest, row)
    const found: DeleteRef[] = []
    const isTouched = this.overlap(manifest, row)
    for (const group of [this.global, groups.equalities]) {
      // Rows that are added together with an equality delete are not deleted by it.
      for (const ref of from(group, sequenceNumber + 1n)) {
        if (isTouched(ref.manifest, ref.row)) found.push(ref)
      }
    }
    if (this.vectors.size + this.positionsByPath.size > 0 || groups.positions !== undefined) {
      this.takePositions({ manifest, row, sequenceNumber }, groups.positions, found)
    }
    return found.length === 0 ? NONE : found.map(made)
  }

  private takePositions(data: DeleteRef, inPartition: DeleteGroup | undefined, found: DeleteRef[]) {
    const { sequenceNumber } = data
    const path = data.manifest.filePath(data.row)
    const vector = this.vectors.get(path)
    if (vector !== undefined && vector.sequenceNumber >= sequenceNumber) {
      found.push(vector)
      return
    }
    for (const group of [inPartition, this.positionsByPath.get(path)]) {
      for (const ref of from(group, sequenceNumber)) found.push(ref)
    }
  }

  private groupsOf(manifest: ScanManifest, row: number): PartitionGroups {
    let known = this.groupsByPartition.get(manifest)
    if (known === undefined) this.groupsByPartition.set(manifest, (known = []))
    const index = manifest.partitionIndex(row)
    const groups = known[index]
    if (groups !== undefined) return groups
    const key = partitionOf(manifest, row)
    const found = { equalities: this.equalities.get(key), positions: this.positions.get(key) }
    known[index] = found
    return found
  }
}

interface PartitionGroups {
  readonly equalities: DeleteGroup | undefined
  readonly positions: DeleteGroup | undefined
}

function groupOf(groups: Map<string, DeleteGroup>, key: string): DeleteGroup {
  let group = groups.get(key)
  if (group === undefined) groups.set(key, (group = []))
  return group
}

/** Values are equal by value: null and null, NaN and NaN, decimals however long their bytes are; −0 is not +0. */
function partitionOf(manifest: ScanManifest, row: number): string {
  const partition = manifest.partitions[manifest.partitionIndex(row)] ?? []
  return `${manifest.specId} ${partitionKey(partition)}`
}

/** The one data file whose rows are deleted, when there is but one. */
function pathOf(manifest: ScanManifest, row: number): string | undefined {
  const path = manifest.referencedDataFile(row)
  if (path !== undefined) return path
  const { lower, upper } = manifest.storedBounds(DELETE_FILE_PATH_ID, row)
  if (lower === undefined || upper === undefined || Buffer.compare(lower, upper) !== 0) {
    return undefined
  }
  const value = decodeSingleValue({ kind: 'string' }, lower)
  return typeof value === 'string' ? value : undefined
}

/** The part of a group from a sequence number on. */
function from(group: DeleteGroup | undefined, sequenceNumberMin: bigint): readonly DeleteRef[] {
  if (group === undefined || group.length === 0) return []
  return group.slice(firstFrom(group, sequenceNumberMin))
}

function firstFrom(group: DeleteGroup, sequenceNumberMin: bigint): number {
  let low = 0
  let high = group.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((group[middle]?.sequenceNumber ?? 0n) < sequenceNumberMin) low = middle + 1
    else high = middle
  }
  return low
}

function made(ref: DeleteRef): DeleteFile {
  ref.made ??= makeDeleteFile(ref)
  return ref.made
}

function makeDeleteFile({
  manifest,
  row,
  sequenceNumber,
  referencedDataFile,
}: DeleteRef): DeleteFile {
  const { dataFile } = manifest.dataFile(row)
  const { filePath, contentOffset, contentSizeBytes } = dataFile
  const isPart = contentOffset !== undefined || contentSizeBytes !== undefined
  return {
    key: isPart ? `${filePath}\n${contentOffset ?? ''}\n${contentSizeBytes ?? ''}` : filePath,
    manifest,
    row,
    specId: manifest.specId,
    sequenceNumber,
    file: referencedDataFile === undefined ? dataFile : { ...dataFile, referencedDataFile },
  }
}

function corrupt(manifest: ScanManifest, row: number, problem: string): CorruptFileError {
  return new CorruptFileError(
    `cannot read manifest ${manifest.manifest.manifestPath}: ${problem} for ${manifest.filePath(row)}`,
  )
}
