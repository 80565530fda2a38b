import type { Predicate } from '../expressions/expression.ts'
import type { DeleteFile, DeleteFileIndex } from './delete-file-index.ts'
import type { ScanFilter } from './scan-filter.ts'
import type { ScanManifest } from './scan-manifest.ts'
import { invariant } from '../spec/invariant.ts'

export interface PlanFilesInput {
  readonly filter: ScanFilter
  readonly data: ScanManifest
  readonly deletes: DeleteFileIndex
  /** Of an incremental scan: see ScanSource. */
  readonly addedIn?: ReadonlySet<bigint>
  /** Only these rows of the manifest are looked at; default all. `to` is exclusive. */
  readonly range?: { readonly from: number; readonly to: number }
  /** Stop once the files are sure to hold this many rows that match. */
  readonly rowsWanted?: number
}

/** The files of one manifest that a scan has to read, in file order. */
export interface PlannedFiles {
  readonly manifest: ScanManifest
  /** Ascending. */
  readonly rows: readonly number[]
  /** Rows that match for sure: of files without deletes whose partition proves the filter. */
  readonly sureRowCount: number
  /** What the partition of a file leaves of the filter. */
  residual(row: number): Predicate
  deletes(row: number): readonly DeleteFile[]
}

/**
 * The data files of a manifest that the filter cannot rule out by partition or column metrics: never fewer than those with a
 * row that matches. Spec: Scan Planning. Throws CorruptFileError for damaged manifests.
 */
export function planFiles(input: PlanFilesInput): PlannedFiles {
  const { filter, data, addedIn, range = { from: 0, to: data.rowCount } } = input
  const specFilter = filter.specFilters.get(data.specId)
  invariant(specFilter !== undefined, `no filter for partition spec ${data.specId}`)
  const partitions = data.partitions.map((partition) => specFilter.mightMatchPartition(partition))
  const residuals: (Predicate | undefined)[] = []
  const planned = {
    manifest: data,
    rows: [] as number[],
    sureRowCount: 0,
    residual: (row: number): Predicate => {
      const index = data.partitionIndex(row)
      return (residuals[index] ??= specFilter.residual(data.partitions[index] ?? []))
    },
    deletes: (row: number) => deletesOf(input, row),
  }
  if (!partitions.includes(true)) return planned
  data.readColumns(filter.fieldIds)
  const mightMatch = filter.mightMatchFile(data)
  for (let row = range.from; row < range.to; row += 1) {
    if (partitions[data.partitionIndex(row)] !== true) continue
    if (addedIn !== undefined && !isAddedIn(data, row, addedIn)) continue
    if (!mightMatch(row)) continue
    planned.rows.push(row)
    if (input.rowsWanted === undefined) continue
    if (planned.residual(row).kind === 'true' && planned.deletes(row).length === 0) {
      const count = data.recordCount(row)
      if (Number.isFinite(count)) planned.sureRowCount += count
    }
    if (planned.sureRowCount >= input.rowsWanted) break
  }
  return planned
}

function isAddedIn(data: ScanManifest, row: number, addedIn: ReadonlySet<bigint>): boolean {
  return data.status(row) === 'added' && addedIn.has(data.snapshotId(row))
}

/** Delete files that can only delete rows that the filter rules out anyway are left out, as the Java library does. */
function deletesOf(
  { filter, data, deletes, addedIn }: PlanFilesInput,
  row: number,
): readonly DeleteFile[] {
  if (addedIn !== undefined || deletes.isEmpty) return []
  const found = deletes.deletesFor(data, row)
  if (filter.predicate.kind === 'true') return found
  return found.filter(({ manifest, row: deleteRow }) => {
    const partition = manifest.partitions[manifest.partitionIndex(deleteRow)] ?? []
    if (filter.specFilters.get(manifest.specId)?.mightMatchPartition(partition) === false)
      return false
    manifest.readColumns(filter.fieldIds)
    return filter.mightMatchFile(manifest)(deleteRow)
  })
}
