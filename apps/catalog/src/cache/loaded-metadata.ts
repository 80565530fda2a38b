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
  encodeTableMetadataView,
} from '@timelake/iceberg/spec/table-metadata-json'
import { planningConfig } from '../planning/scan-planning-mode.ts'
import { deflateHead, gzipWithTail, type DeflatedHead } from './gzip-with-tail.ts'

/** `all` is the whole metadata; `refs` leaves out the snapshots that no ref points at. */
export type MetadataView = 'all' | 'refs'

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
  readonly #bodies = new Map<MetadataView, EncodedBody>()
  readonly #heads = new Map<MetadataView, Promise<DeflatedHead>>()
  readonly #gzipped = new Map<MetadataView, Promise<Buffer>>()

  constructor(location: string, metadata: TableMetadata) {
    this.location = location
    this.metadata = metadata
  }

  /** The LoadTableResult as UTF-8 JSON; with an access it is made anew. */
  body(view: MetadataView, access?: LoadTableAccess): Buffer {
    const { body, endBytes } = this.#encoded(view)
    if (access === undefined) return body
    return Buffer.concat([body.subarray(0, endBytes), tailOf(this.metadata, access)])
  }

  /** The content of the metadata file: a view into the body, not a copy. */
  fileBytes(): Buffer {
    const { body, startBytes, endBytes } = this.#encoded('all')
    return body.subarray(startBytes, endBytes)
  }

  /**
   * The gzipped body, undefined when gzip is not worth it. The metadata is compressed once, outside the event loop; an access
   * is compressed for each answer and appended.
   */
  gzippedBody(view: MetadataView, access?: LoadTableAccess): Promise<Buffer> | undefined {
    const { body, endBytes } = this.#encoded(view)
    if (body.length < GZIP_BYTES_MIN) return undefined
    const head = memoized(this.#heads, view, () => deflateHead(body.subarray(0, endBytes)))
    if (access !== undefined)
      return head.then((made) => gzipWithTail(made, tailOf(this.metadata, access)))
    return memoized(this.#gzipped, view, () =>
      head.then((made) => gzipWithTail(made, body.subarray(endBytes))),
    )
  }

  etag(view: MetadataView, access?: LoadTableAccess): string {
    return loadETag(this.location, view, access)
  }

  #encoded(view: MetadataView): EncodedBody {
    return memoized(this.#bodies, view, () =>
      encodeBody(this.location, {
        text: encodeTableMetadataView(this.metadata, view),
        tail: tailOf(this.metadata, OWN_ACCESS),
      }),
    )
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

/** The metadata in the text of the file at the location. Throws InvalidInputError. */
export function decodeLoadedMetadata(location: string, text: Uint8Array): LoadedMetadata {
  return new LoadedMetadata(location, decodeTableMetadata(text))
}

/** An answer for callers with access of their own, and where the text of the metadata is in it. */
interface EncodedBody {
  readonly body: Buffer
  readonly startBytes: number
  readonly endBytes: number
}

/**
 * The answer around the text of the metadata. Deep histories have megabytes, so the text is turned into bytes once, at
 * its place.
 */
function encodeBody(
  metadataLocation: string,
  { text, tail }: { readonly text: string; readonly tail: Buffer },
): EncodedBody {
  const head = loadTableResultHead(metadataLocation)
  const startBytes = Buffer.byteLength(head)
  const endBytes = startBytes + Buffer.byteLength(text)
  const body = Buffer.allocUnsafeSlow(endBytes + tail.length)
  body.write(head, 0)
  body.write(text, startBytes)
  tail.copy(body, endBytes)
  return { body, startBytes, endBytes }
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
