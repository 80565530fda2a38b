import { int, list } from '@timelake/iceberg/spec/decode'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { parseJson } from '@timelake/iceberg/spec/json'
import type { JsonValue } from '@timelake/iceberg/spec/json-value'

/**
 * A run of the live files of a scan, in the order of its manifests and of the rows in them. Which of them pass the filter is
 * found out again when the page is asked for, with the same outcome each time.
 */
export interface PlanPage {
  /** Places among all data manifests of the scan, whatever the filter says of them. */
  readonly fromManifest: number
  readonly toManifest: number
  /** Of the first manifest. */
  readonly fromRow: number
  /** Of the last manifest, exclusive. */
  readonly toRow: number
}

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
