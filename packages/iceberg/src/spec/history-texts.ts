import { printMembers } from './json.ts'
import type { JsonObject } from './json-value.ts'
import { RememberedTexts } from './remembered-texts.ts'
import { snapshotText } from './snapshot-json.ts'
import type { Snapshot } from './snapshot.ts'
import type { MetadataLogEntry, SnapshotLogEntry } from './table-metadata.ts'

/** The texts of what grows with every commit, as metadata files hold them. */
export const snapshotTexts = new RememberedTexts((snapshot: Snapshot) => snapshotText(snapshot))

/** The same in files of format version 1. */
export const snapshotTextsV1 = new RememberedTexts((snapshot: Snapshot) =>
  snapshotText(snapshot, { omitZeroSequence: true }),
)

export const snapshotLogTexts = new RememberedTexts(
  ({ timestampMs, snapshotId, extra }: SnapshotLogEntry) =>
    `{${extraText(extra)}"timestamp-ms":${timestampMs},"snapshot-id":${snapshotId}}`,
)

export const metadataLogTexts = new RememberedTexts(
  ({ timestampMs, metadataFile, extra }: MetadataLogEntry) =>
    `{${extraText(extra)}"timestamp-ms":${timestampMs},"metadata-file":${JSON.stringify(metadataFile)}}`,
)

function extraText(extra: JsonObject | undefined): string {
  const text = extra === undefined ? '' : printMembers(extra)
  return text === '' ? '' : `${text},`
}
