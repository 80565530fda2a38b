import { int, list } from '@timelake/iceberg/spec/decode'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { parseJson } from '@timelake/iceberg/spec/json'
import type { JsonValue } from '@timelake/iceberg/spec/json-value'
import type { ManifestFile } from '@timelake/iceberg/manifest/manifest-file'
import type { PlacedManifest } from './open-scan.ts'
import type { PlanPage } from './plan-page.ts'

/** The JSON form of a page. */
export function encodePage(page: PlanPage): JsonValue {
  return [page.fromManifest, page.fromRow, page.toManifest, page.toRow].map(BigInt)
}

/** Inverse of encodePage. Throws InvalidInputError. */
export function decodePage(json: JsonValue | undefined, path: string): PlanPage {
  const [fromManifest, fromRow, toManifest, toRow, ...rest] = list(json, path, int)
  const isPage =
    fromManifest !== undefined &&
    fromRow !== undefined &&
    toManifest !== undefined &&
    toRow !== undefined
  if (isPage && rest.length === 0) return { fromManifest, fromRow, toManifest, toRow }
  throw new InvalidInputError('expected four numbers', path)
}

/** Pages in a text of printed JSON. */
export function decodePages(text: string): PlanPage[] {
  return list(parseJson(text), 'pages', decodePage)
}

/** The rows of a manifest that belong to a page; none when `from` is not below `to`. */
export function rowsOfPage(
  page: PlanPage,
  manifest: { readonly place: number; readonly rowCount: number },
): { readonly from: number; readonly to: number } {
  const { place, rowCount } = manifest
  if (place < page.fromManifest || place > page.toManifest) return { from: 0, to: 0 }
  return {
    from: place === page.fromManifest ? page.fromRow : 0,
    to: place === page.toManifest ? Math.min(page.toRow, rowCount) : rowCount,
  }
}

/** The manifests that a page has rows of. */
export function manifestsOfPage(
  manifests: readonly PlacedManifest[],
  { fromManifest, toManifest }: PlanPage,
): readonly PlacedManifest[] {
  return manifests.filter(({ place }) => place >= fromManifest && place <= toManifest)
}

/** Behind the last row of every manifest. */
const END_ROW = 2 ** 31 - 1
/** A manifest list with more files than this, or a manifest in it, is not believed. */
const LISTED_FILES_MAX = 50_000_000
const MANIFEST_FILES_MAX = 1_000_000

/** Pages of so many of all files, by the counts of the manifest list; undefined where it does not tell them. */
export function listedPages(
  manifests: readonly PlacedManifest[],
  countMax: number,
): PlanPage[] | undefined {
  const pages: PlanPage[] = []
  let from = { place: 0, row: 0 }
  let [count, sum] = [0, 0]
  const close = (place: number, toRow: number): void => {
    pages.push({ fromManifest: from.place, fromRow: from.row, toManifest: place, toRow })
    count = 0
  }
  for (const { manifest, place } of manifests) {
    const fileCount = listedFileCount(manifest)
    sum += fileCount ?? Number.NaN
    if (fileCount === undefined || sum > LISTED_FILES_MAX) return undefined
    for (let row = 0; row < fileCount;) {
      if (count === 0) from = { place, row }
      const taken = Math.min(countMax - count, fileCount - row)
      count += taken
      row += taken
      if (count === countMax) close(place, row === fileCount ? END_ROW : row)
    }
  }
  const last = manifests.at(-1)
  if (count > 0 && last !== undefined) close(last.place, END_ROW)
  return pages
}

function listedFileCount(manifest: ManifestFile): number | undefined {
  const { addedFilesCount, existingFilesCount } = manifest
  if (addedFilesCount === undefined || existingFilesCount === undefined) return undefined
  const count = addedFilesCount + existingFilesCount
  const isLikely = addedFilesCount >= 0 && existingFilesCount >= 0 && count <= MANIFEST_FILES_MAX
  return isLikely ? count : undefined
}
