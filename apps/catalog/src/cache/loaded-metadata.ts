import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import {
  loadTableResultHead,
  loadTableResultTail,
  type LoadTableAccess,
} from '@timelake/iceberg/rest/load-table-json'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import {
  decodeTableMetadata,
  encodeTableMetadataPieces,
} from '@timelake/iceberg/spec/table-metadata-json'
import { lengthOf } from '@timelake/storage/object-bytes'
import { planningConfig } from '../planning/scan-planning-mode.ts'
import { deflateHead, gzipWithTail, type DeflatedHead } from './gzip-with-tail.ts'

/** `all` is the whole metadata; `refs` leaves out the snapshots that no ref points at. */
export type MetadataView = 'all' | 'refs'

/** Bodies up to this size are copied into one piece, once. */
const COPIED_BYTES_MAX = 65_536
/** Bodies this small travel in one packet anyway. */
const GZIP_BYTES_MIN = 1_400
// Part of every ETag: a change of the body's shape in a new version of the server must not match old tags.
const BODY_SHAPE = '1'
/** For callers that bring their own access to the objects. */
const OWN_ACCESS: LoadTableAccess = { config: {} }

/**
 * The metadata at one location with the answers of loadTable made from it. What is the same for everybody, up to the end of the
 * metadata, is encoded and compressed once and kept; only the end differs where callers are given access to the
 * objects. The text of the metadata inside an answer is the text of its file.
 */
export class LoadedMetadata {
  readonly location: string
  readonly metadata: TableMetadata
  readonly #encodings = new Map<MetadataView, Encoded>()
  readonly #bodies = new Map<MetadataView, readonly Uint8Array[]>()
  readonly #heads = new Map<MetadataView, Promise<DeflatedHead>>()
  readonly #gzipped = new Map<MetadataView, Promise<Buffer>>()

  constructor(location: string, metadata: TableMetadata) {
    this.location = location
    this.metadata = metadata
  }

  /** The LoadTableResult as UTF-8 JSON, in pieces; with an access, its end is made anew. */
  body(view: MetadataView, access?: LoadTableAccess): readonly Uint8Array[] {
    const { head, text } = this.#encoded(view)
    if (access !== undefined) return [head, ...text, tailOf(this.metadata, access)]
    return memoized(this.#bodies, view, () =>
      inFewPieces([head, ...text, tailOf(this.metadata, OWN_ACCESS)]),
    )
  }

  /** The content of the metadata file, in pieces. */
  fileBytes(): readonly Uint8Array[] {
    return this.#encoded('all').text
  }

  /**
   * The gzipped body, undefined when gzip is not worth it. The metadata is compressed once, outside the event loop; an access
   * is compressed for each answer and appended.
   */
  gzippedBody(view: MetadataView, access?: LoadTableAccess): Promise<Buffer> | undefined {
    const { head, text } = this.#encoded(view)
    if (lengthOf(text) < GZIP_BYTES_MIN) return undefined
    const deflated = memoized(this.#heads, view, () => deflateHead(Buffer.concat([head, ...text])))
    const whole = async (given: LoadTableAccess): Promise<Buffer> =>
      gzipWithTail(await deflated, tailOf(this.metadata, given))
    return access === undefined
      ? memoized(this.#gzipped, view, () => whole(OWN_ACCESS))
      : whole(access)
  }

  etag(view: MetadataView, access?: LoadTableAccess): string {
    return loadETag(this.location, view, access)
  }

  #encoded(view: MetadataView): Encoded {
    return memoized(this.#encodings, view, () => ({
      head: Buffer.from(loadTableResultHead(this.location)),
      text: encodeTableMetadataPieces(this.metadata, view),
    }))
  }
}

function memoized<Key, Value>(kept: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = kept.get(key)
  if (known !== undefined) return known
  const made = make()
  kept.set(key, made)
  return made
}

/** What an answer ends with. */
function tailOf({ properties }: TableMetadata, access: LoadTableAccess): Buffer {
  const config = { ...planningConfig(properties), ...access.config }
  return Buffer.from(loadTableResultTail({ ...access, config }))
}

/**
 * The metadata in the text of the file at the location, which shares with a known version what it has in common with it. Throws
 * InvalidInputError.
 */
export function decodeLoadedMetadata(
  location: string,
  text: Uint8Array,
  known?: LoadedMetadata,
): LoadedMetadata {
  return new LoadedMetadata(location, decodeTableMetadata(text, known?.metadata))
}

/** What answers begin with, and the text of the metadata behind it, in pieces that other versions of the table have too. */
interface Encoded {
  readonly head: Buffer
  readonly text: readonly Uint8Array[]
}

/** One piece where copying costs less than handing over several. */
function inFewPieces(pieces: readonly Uint8Array[]): readonly Uint8Array[] {
  return lengthOf(pieces) <= COPIED_BYTES_MAX ? [Buffer.concat(pieces)] : pieces
}

/**
 * The weak ETag of a loadTable answer. A location is written once, so it stands for the metadata; the view, the access that the
 * answer gives and the shape of the body are the rest of what it is made from. A tag that still holds tells a caller that
 * the credentials it was given are those that it would be given now.
 */
export function loadETag(location: string, view: MetadataView, access?: LoadTableAccess): string {
  const hash = createHash('sha256').update(`${BODY_SHAPE}\n${view}\n${location}`)
  if (access !== undefined) hash.update(`\n${loadTableResultTail(access)}`)
  return `W/"${hash.digest('base64url').slice(0, 22)}"`
}
