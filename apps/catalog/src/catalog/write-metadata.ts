import { Buffer } from 'node:buffer'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { NewFile } from '@timelake/iceberg/snapshot/new-snapshot'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { joinBytes, lengthOf, type ObjectBytes } from '@timelake/storage/object-bytes'
import type { ObjectStore, PutOutcome } from '@timelake/storage/object-store'
import { LoadedMetadata } from '../cache/loaded-metadata.ts'
import { NotAppliedError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import type { Warehouse } from './warehouse.ts'
import { isMetadataGzipped, newMetadataLocation } from './metadata-location.ts'

const compress = promisify(gzip)
/** A fresh UUID is never taken twice; more tries would hide a broken source of UUIDs. */
const NAME_ATTEMPTS_MAX = 3

/** Metadata whose file is durable, not yet known to the catalog's cache. */
export interface Written<Loaded> {
  readonly loaded: Loaded
  readonly textBytes: number
}

export type WrittenMetadata = Written<LoadedMetadata>

export interface NextMetadata {
  readonly warehouse: Warehouse
  readonly metadata: TableMetadata
  readonly previousLocation?: string
}

/** Writes a new metadata file of a table, as `writeMetadataFile` does. */
export function writeMetadata(catalog: Catalog, next: NextMetadata): Promise<WrittenMetadata> {
  return writeMetadataFile(catalog, {
    ...next,
    atLocation: (location) => new LoadedMetadata(location, next.metadata),
  })
}

export interface NextFile<Loaded> {
  readonly warehouse: Warehouse
  /** Says where metadata files go and whether they are gzipped. */
  readonly metadata: Pick<TableMetadata, 'location' | 'properties'>
  readonly previousLocation?: string
  /** The metadata as it will be read from the location. */
  readonly atLocation: (location: string) => Loaded
}

/**
 * Writes a new metadata file under a never-used name; it is durable when this returns. Throws NotAppliedError when the
 * store cannot say so (nothing points at the file, so nothing was applied), and InvalidInputError when
 * the metadata is larger than the limit.
 */
export async function writeMetadataFile<
  Loaded extends { readonly location: string; fileBytes(): readonly Uint8Array[] },
>(catalog: Catalog, next: NextFile<Loaded>): Promise<Written<Loaded>> {
  const { warehouse, metadata, previousLocation } = next
  for (let attempt = 1; attempt <= NAME_ATTEMPTS_MAX; attempt += 1) {
    const uuid = catalog.context.newUuid()
    const location = newMetadataLocation(metadata, { previousLocation, uuid })
    const loaded = next.atLocation(location)
    const text = loaded.fileBytes()
    const textBytes = lengthOf(text)
    checkSize(catalog, textBytes)
    const isGzipped = isMetadataGzipped(metadata.properties)
    const bytes = isGzipped ? await compress(joinBytes(text)) : text
    if (await put(warehouse.store, { location, bytes, what: 'metadata file' }))
      return { loaded, textBytes }
  }
  throw new NotAppliedError('cannot write metadata: every new name was taken')
}

/** Writes a manifest or manifest list; it is durable when this returns. Throws NotAppliedError, as `writeMetadataFile` does. */
export async function writeNewFile(store: ObjectStore, file: NewFile): Promise<void> {
  const { location, bytes } = file
  if (await put(store, { location, bytes, what: 'file' })) return
  throw new NotAppliedError(`cannot write file ${location}: its name is taken`)
}

/** Deletes a file that this process wrote and that nothing refers to. */
export async function discardFile(
  catalog: Catalog,
  { store }: Warehouse,
  location: string,
): Promise<void> {
  try {
    await store.delete(normalizeLocation(location))
  } catch (error) {
    // The file is garbage, not damage; orphan removal finds it.
    catalog.context.log.warn({ err: error, location }, 'cannot delete an unused file')
  }
}

function checkSize(catalog: Catalog, textBytes: number): void {
  const { metadataBytesMax } = catalog.config
  if (textBytes <= metadataBytesMax) return
  throw new InvalidInputError(
    `metadata would have ${textBytes} bytes: expected at most ${metadataBytesMax}, expire snapshots first`,
  )
}

interface FileToPut {
  readonly location: string
  readonly bytes: ObjectBytes
  /** For errors. */
  readonly what: string
}

/** Whether the file is ours now; false when the name was taken. */
async function put(store: ObjectStore, { location, bytes, what }: FileToPut): Promise<boolean> {
  const target = normalizeLocation(location)
  let outcome: PutOutcome
  try {
    outcome = await store.putIfAbsent(target, bytes)
    if (outcome === 'unknown') outcome = await readBack(store, target, bytes)
  } catch (cause) {
    throw new NotAppliedError(`cannot write ${what} ${location}`, { cause })
  }
  if (outcome === 'unknown') throw new NotAppliedError(`cannot write ${what} ${location}`)
  return outcome === 'created'
}

async function readBack(
  store: ObjectStore,
  target: string,
  bytes: ObjectBytes,
): Promise<PutOutcome> {
  const found = await store.stat(target)
  if (found === undefined) return 'unknown'
  const content = await store.get(target, { sizeBytesMax: found.sizeBytes })
  return Buffer.compare(joinBytes(bytes), content) === 0 ? 'created' : 'exists'
}
