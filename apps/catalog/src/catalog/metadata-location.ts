import { joinLocation } from '@timelake/iceberg/spec/location'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'

const VERSION_DIGITS = 5
const SLUG_LENGTH_MAX = 40

/** Whether the metadata files of the table are gzipped (`write.metadata.compression-codec`). */
export function isMetadataGzipped(properties: Readonly<Record<string, string>>): boolean {
  return properties['write.metadata.compression-codec']?.toLowerCase() === 'gzip'
}

type Named = Pick<TableMetadata, 'location' | 'properties'>

/** The folder of the metadata files of a table or view: `write.metadata.path`, or `metadata` below its location. */
export function metadataFolder(metadata: Named): string {
  const configured = metadata.properties['write.metadata.path']
  return configured ? joinLocation(configured) : joinLocation(metadata.location, 'metadata')
}

/**
 * A location for the next metadata file that was never used before: the version after that of `previousLocation` (0
 * without one) and a fresh UUID. Spec: Appendix F, file names.
 */
export function newMetadataLocation(
  metadata: Named,
  options: { readonly previousLocation: string | undefined; readonly uuid: string },
): string {
  const { previousLocation, uuid } = options
  const version = previousLocation === undefined ? 0 : metadataVersion(previousLocation) + 1
  const suffix = isMetadataGzipped(metadata.properties) ? '.gz.metadata.json' : '.metadata.json'
  const name = `${String(version).padStart(VERSION_DIGITS, '0')}-${uuid}${suffix}`
  return joinLocation(metadataFolder(metadata), name)
}

/** The version in names like `00003-….metadata.json` and `v3.metadata.json`; 0 for other names. */
function metadataVersion(location: string): number {
  const digits = /\/v?(\d{1,15})[^/]*$/.exec(location)?.[1]
  return digits === undefined ? 0 : Number(digits)
}

/** `<namespace location>/<slug>-<32 hex digits>`: never the raw name, never a folder that was used before. */
export function defaultTableLocation(
  namespaceLocation: string,
  table: { readonly name: string; readonly tableUuid: string },
): string {
  const id = table.tableUuid.replaceAll('-', '')
  return joinLocation(namespaceLocation, `${slug(table.name)}-${id}`)
}

function slug(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, SLUG_LENGTH_MAX)
}
