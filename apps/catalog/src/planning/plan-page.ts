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
