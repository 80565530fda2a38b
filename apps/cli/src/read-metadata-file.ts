import { gunzipSync } from 'node:zlib'
import { decodeTableMetadataJson } from '@timelake/iceberg/spec/decode-table-metadata'
import { object } from '@timelake/iceberg/spec/decode'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { parseJson } from '@timelake/iceberg/spec/json'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import { decodeViewMetadataJson } from '@timelake/iceberg/view/view-metadata-json'
import type { ObjectStore } from '@timelake/storage/object-store'
import type { FoundMetadata } from './plan-recovery.ts'

/** What a metadata file says of its table or view. */
export type ReadMetadata = FoundMetadata & {
  /** That of a table's current snapshot. */
  readonly manifestList?: string | undefined
}

export interface MetadataSource {
  readonly store: ObjectStore
  readonly metadataBytesMax: number
}

/**
 * Reads a metadata file, gzipped or not. Errors: InvalidInputError for a file that breaks the format, and those of the
 * store.
 */
export async function readMetadataFile(
  { store, metadataBytesMax }: MetadataSource,
  metadataLocation: string,
): Promise<ReadMetadata> {
  const bytes = await store.get(metadataLocation, { sizeBytesMax: metadataBytesMax })
  const raw = object(parseJson(textOf(bytes, metadataBytesMax)), 'metadata')
  return raw['view-uuid'] === undefined
    ? readTable(raw, metadataLocation)
    : readView(raw, metadataLocation)
}

function textOf(bytes: Uint8Array, metadataBytesMax: number): string {
  const isGzipped = bytes[0] === 0x1f && bytes[1] === 0x8b
  try {
    const plain = isGzipped ? gunzipSync(bytes, { maxOutputLength: metadataBytesMax }) : bytes
    return new TextDecoder('utf-8', { fatal: true }).decode(plain)
  } catch (cause) {
    throw new InvalidInputError('it is not text', undefined, { cause })
  }
}

function readTable(raw: JsonObject, metadataLocation: string): ReadMetadata {
  const metadata = decodeTableMetadataJson(raw)
  const { snapshots, currentSnapshotId } = metadata
  return {
    kind: 'table',
    metadataLocation,
    tableUuid: metadata.tableUuid,
    location: normalizeLocation(metadata.location),
    lastUpdatedMs: metadata.lastUpdatedMs,
    earlierLocations: metadata.metadataLog.map(({ metadataFile }) => metadataFile),
    manifestList: snapshots.find(({ snapshotId }) => snapshotId === currentSnapshotId)
      ?.manifestList,
  }
}

// A view's history names its versions, not its files.
function readView(raw: JsonObject, metadataLocation: string): ReadMetadata {
  const metadata = decodeViewMetadataJson(raw)
  return {
    kind: 'view',
    metadataLocation,
    tableUuid: metadata.viewUuid,
    location: normalizeLocation(metadata.location),
    lastUpdatedMs: metadata.versionLog.at(-1)?.timestampMs ?? 0,
    earlierLocations: [],
  }
}
