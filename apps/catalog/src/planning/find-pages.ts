import { setImmediate } from 'node:timers/promises'
import type { ManifestFile } from '@timelake/iceberg/manifest/manifest-file'
import { encodeScanTasks, type ScanTask } from '@timelake/iceberg/rest/scan-task-json'
import {
  buildDeleteFileIndex,
  type DeleteFileIndex,
} from '@timelake/iceberg/scan/delete-file-index'
import { planFiles, type PlannedFiles } from '@timelake/iceberg/scan/plan-files'
import { mapBounded } from '@timelake/iceberg/io/map-bounded'
import { invariant } from '@timelake/iceberg/spec/invariant'
import type { ScanManifest } from '@timelake/iceberg/scan/scan-manifest'
import {
  isWholeTable,
  plannable,
  type OpenScan,
  type PlacedManifest,
  type ScannedTable,
} from './open-scan.ts'
import type { PlanPage } from './plan-page.ts'
import { listedPages, manifestsOfPage, rowsOfPage } from './plan-pages.ts'
import { readAhead } from './read-ahead.ts'

/** Manifests of one scan that are read at the same time, and wait decoded for their turn. */
const READ_AHEAD_MAX = 8
/** After so many files others get a turn. */
const FILES_AT_A_STRETCH_MAX = 20_000

/** Where the files of a scan are. */
export interface FoundPages {
  readonly pages: readonly PlanPage[]
  /** The files of the one page, when they are at hand. */
  readonly files?: readonly PlannedFiles[]
}

/**
 * Looks at every file of the scan, or of a page of it, and cuts those that it has to read into pages. Memory: the manifests that are
 * read ahead, and the files of one page. Throws TableNotPlannableError, CorruptFileError, what the store throws, and the
 * signal's reason.
 */
export async function findPages(
  table: ScannedTable,
  open: OpenScan,
  { page, signal }: { readonly page?: PlanPage; readonly signal?: AbortSignal } = {},
): Promise<FoundPages> {
  const { pageFilesMax } = table.catalog.config.planning
  const cutter = new PageCutter(pageFilesMax)
  const rowsWanted = rowsWantedOf(open)
  let sureRowCount = 0
  for await (const { place, files } of planManifests(table, open, page)) {
    signal?.throwIfAborted()
    cutter.add(place, files)
    sureRowCount += files.sureRowCount
    if (rowsWanted !== undefined && sureRowCount >= rowsWanted) break
  }
  return cutter.finish()
}

/**
 * The pages of a scan of a whole table, by what the manifest list says of its manifests, of which none is read; undefined for
 * other scans, for those of one page, and where the list does not say it. A list that is wrong makes pages larger or
 * smaller and loses no file, because a page that ends with a manifest has all of the rest of it. Throws
 * TableNotPlannableError, and what reading the delete files throws.
 */
export async function findListedPages(
  table: ScannedTable,
  open: OpenScan,
): Promise<FoundPages | undefined> {
  const { pageFilesMax } = table.catalog.config.planning
  if (!isWholeTable(open) || rowsWantedOf(open) !== undefined) return undefined
  const pages = listedPages(open.data, pageFilesMax)
  if (pages === undefined || pages.length < 2) return undefined
  const { roots } = table
  const { manifests } = table.catalog.planning
  await plannable(async () => {
    for (const { manifest } of open.data) manifests.check({ manifest, roots })
  })
  await deleteIndexOf(table, open)
  return { pages }
}

/** Undefined: all of them. */
function rowsWantedOf({ scan }: OpenScan): number | undefined {
  const { minRowsRequested } = scan.request
  return minRowsRequested === undefined ? undefined : Number(minRowsRequested)
}

/** The scan tasks of a plan of one page, or of none, as text: see encodeScanTasks. */
export async function pageTasksText(
  table: ScannedTable,
  open: OpenScan,
  found: FoundPages,
): Promise<string> {
  const [page, ...more] = found.pages
  invariant(more.length === 0, 'the tasks of one page are asked at a time')
  const files =
    page === undefined ? [] : (found.files ?? (await findPages(table, open, { page })).files ?? [])
  const { statsFieldIds } = open.scan
  const tasks = files.flatMap((each) => tasksOf(each, [...statsFieldIds]))
  table.catalog.planning.metrics.plannedFiles.inc(tasks.length)
  return encodeScanTasks(tasks, { partitions: open.partitions, statsFieldIds })
}

function tasksOf(files: PlannedFiles, statsFieldIds: readonly number[]): ScanTask[] {
  const { manifest } = files
  return files.rows.map((row) => {
    const { sequenceNumber, dataFile } = manifest.dataFile(row, statsFieldIds)
    return {
      file: { specId: manifest.specId, sequenceNumber, dataFile },
      deletes: files.deletes(row).map((each) => ({ ...each, dataFile: each.file })),
      residual: files.residual(row),
    }
  })
}

interface PlacedFiles {
  readonly place: number
  readonly files: PlannedFiles
}

/** The files to read of a scan, or of a page of it, one manifest after the other. */
async function* planManifests(
  table: ScannedTable,
  open: OpenScan,
  page: PlanPage | undefined,
): AsyncGenerator<PlacedFiles> {
  const { addedIn } = open.scan.source
  const rowsWanted = rowsWantedOf(open)
  const deletes = await deleteIndexOf(table, open)
  const { statsFieldIds } = open.scan
  const fieldIds = [...open.filter.fieldIds, ...statsFieldIds, ...deletes.equalityFieldIds]
  const read = async ({ manifest, place }: PlacedManifest) => ({
    place,
    data: await readScanManifest(table, open, { manifest, fieldIds }),
  })
  const manifests = page === undefined ? open.data : manifestsOfPage(open.data, page)
  let looked = 0
  for await (const { place, data } of readAhead(manifests, READ_AHEAD_MAX, read)) {
    const files = planFiles({
      filter: open.filter,
      data,
      deletes,
      ...(addedIn && { addedIn }),
      ...(page && { range: rowsOfPage(page, { place, rowCount: data.rowCount }) }),
      ...(rowsWanted === undefined ? {} : { rowsWanted }),
    })
    table.catalog.planning.metrics.plannedManifests.inc()
    table.catalog.planning.manifests.weigh(data)
    yield { place, files }
    looked += data.rowCount
    if (looked > FILES_AT_A_STRETCH_MAX) {
      looked = 0
      await setImmediate()
    }
  }
}

/** Which delete manifests count depends on the filter, how they are read on the schema. */
function deleteIndexOf(table: ScannedTable, open: OpenScan): Promise<DeleteFileIndex> {
  const { catalog, warehouse, metadata } = table
  const paths = open.deletes.map(({ manifestPath }) => manifestPath)
  const key = JSON.stringify([warehouse.id, metadata.tableUuid, metadata.currentSchemaId, paths])
  return catalog.planning.deleteIndexes.get(key, async () => {
    const manifests = await mapBounded(open.deletes, READ_AHEAD_MAX, (manifest) =>
      readScanManifest(table, open, { manifest, fieldIds: open.filter.fieldIds }),
    )
    return {
      index: buildDeleteFileIndex(manifests, metadata),
      deleteFileCount: manifests.reduce((count, { rowCount }) => count + rowCount, 0),
    }
  })
}

function readScanManifest(
  { catalog, warehouse, metadata, roots }: ScannedTable,
  open: OpenScan,
  { manifest, fieldIds }: { readonly manifest: ManifestFile; readonly fieldIds: readonly number[] },
): Promise<ScanManifest> {
  const partition = open.partitions.get(manifest.partitionSpecId)
  invariant(partition !== undefined, `no partition type of spec ${manifest.partitionSpecId}`)
  return plannable(() =>
    catalog.planning.manifests.get(warehouse, {
      manifest,
      partition,
      schemaId: metadata.currentSchemaId,
      roots,
      fieldIds,
      isPassing: isWholeTable(open),
    }),
  )
}

/** Cuts the files that come along into pages of so many. */
class PageCutter {
  readonly #countMax: number
  readonly #pages: PlanPage[] = []
  #files: PlannedFiles[] | undefined = []
  #count = 0
  #first = { place: 0, row: 0 }
  #last = { place: 0, row: 0 }

  constructor(countMax: number) {
    this.#countMax = countMax
  }

  add(place: number, files: PlannedFiles): void {
    for (const row of files.rows) {
      if (this.#count === this.#countMax) this.#cut()
      if (this.#count === 0) this.#first = { place, row }
      this.#last = { place, row }
      this.#count += 1
    }
    if (files.rows.length > 0) this.#files?.push(files)
  }

  finish(): FoundPages {
    if (this.#count > 0) this.#close()
    const files = this.#files
    return files === undefined ? { pages: this.#pages } : { pages: this.#pages, files }
  }

  #cut(): void {
    this.#close()
    // With a second page nobody asks for the files of the first one now.
    this.#files = undefined
  }

  #close(): void {
    this.#pages.push({
      fromManifest: this.#first.place,
      fromRow: this.#first.row,
      toManifest: this.#last.place,
      toRow: this.#last.row + 1,
    })
    this.#count = 0
  }
}
