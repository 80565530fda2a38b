import type { MetadataLogEntry, TableMetadata } from '../spec/table-metadata.ts'

const PREVIOUS_VERSIONS_MAX_PROPERTY = 'write.metadata.previous-versions-max'
const PREVIOUS_VERSIONS_MAX_DEFAULT = 100

/**
 * The metadata log with the file of `base` appended, the newest `write.metadata.previous-versions-max` entries kept
 * (at least one; 100 when the property is absent or no whole number). Times never go backwards.
 */
export function appendPreviousFile(
  base: TableMetadata,
  baseMetadataLocation: string,
  properties: ReadonlyMap<string, string>,
): readonly MetadataLogEntry[] {
  const log = base.metadataLog
  const entry = {
    timestampMs: Math.max(base.lastUpdatedMs, log.at(-1)?.timestampMs ?? 0),
    metadataFile: baseMetadataLocation,
  }
  const previousVersionsMax = Math.max(
    1,
    wholeNumber(properties.get(PREVIOUS_VERSIONS_MAX_PROPERTY)),
  )
  return [...log.slice(Math.max(0, log.length - previousVersionsMax + 1)), entry]
}

function wholeNumber(text: string | undefined): number {
  return text !== undefined && /^-?\d{1,9}$/.test(text.trim())
    ? Number(text)
    : PREVIOUS_VERSIONS_MAX_DEFAULT
}
