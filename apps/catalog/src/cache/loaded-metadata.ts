import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { loadTableResultText } from '@timelake/iceberg/rest/load-table-json'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import {
  decodeTableMetadata,
  encodeTableMetadataView,
} from '@timelake/iceberg/spec/table-metadata-json'

/** `all` is the whole metadata; `refs` leaves out the snapshots that no ref points at. */
export type MetadataView = 'all' | 'refs'

const compress = promisify(gzip)
/** Bodies this small travel in one packet anyway. */
const GZIP_BYTES_MIN = 1_400
/** Fast levels give up a tenth of the size for a third of the time. */
const GZIP_LEVEL = 4
// Part of every ETag: a change of the body's shape in a new version of the server must not match old tags.
const BODY_SHAPE = '1'
const TABLE_CONFIG = {}

/**
 * The metadata at one location with the answers of loadTable made from it, each encoded once and kept. The text of
 * the metadata inside an answer is the text of its file.
 */
export class LoadedMetadata {
  readonly location: string
  readonly metadata: TableMetadata
  readonly #bodies = new Map<MetadataView, Buffer>()
  readonly #gzipped = new Map<MetadataView, Promise<Buffer>>()
  #file = { startBytes: 0, endBytes: 0 }

  constructor(location: string, metadata: TableMetadata) {
    this.location = location
    this.metadata = metadata
  }

  /** The LoadTableResult as UTF-8 JSON. */
  body(view: MetadataView): Buffer {
    const known = this.#bodies.get(view)
    if (known !== undefined) return known
    const metadataText = encodeTableMetadataView(this.metadata, view)
    const { body, startBytes, endBytes } = encodeBody(this.location, metadataText)
    this.#bodies.set(view, body)
    if (view === 'all') this.#file = { startBytes, endBytes }
    return body
  }

  /** The content of the metadata file: a view into the body, not a copy. */
  fileBytes(): Buffer {
    const body = this.body('all')
    const { startBytes, endBytes } = this.#file
    return body.subarray(startBytes, endBytes)
  }

  /** The gzipped body, made once outside the event loop; undefined when gzip is not worth it. */
  gzippedBody(view: MetadataView): Promise<Buffer> | undefined {
    const body = this.body(view)
    if (body.length < GZIP_BYTES_MIN) return undefined
    const known = this.#gzipped.get(view)
    if (known !== undefined) return known
    const made = compress(body, { level: GZIP_LEVEL })
    this.#gzipped.set(view, made)
    return made
  }

  etag(view: MetadataView): string {
    return loadETag(this.location, view)
  }
}

/** The metadata in the text of the file at the location. Throws InvalidInputError. */
export function decodeLoadedMetadata(location: string, text: Uint8Array): LoadedMetadata {
  return new LoadedMetadata(location, decodeTableMetadata(text))
}

const METADATA_MEMBER = '"metadata":'

/**
 * The answer around the text of the metadata, and where that text is in it. Deep histories have megabytes, so the text is
 * turned into bytes once, at its place.
 */
function encodeBody(metadataLocation: string, metadataText: string) {
  const frame = loadTableResultText({ metadataLocation, metadataText: '', config: TABLE_CONFIG })
  // Quotes inside the location are escaped, so the first match is the member.
  const at = frame.indexOf(METADATA_MEMBER) + METADATA_MEMBER.length
  const [prefix, suffix] = [frame.slice(0, at), frame.slice(at)]
  const startBytes = Buffer.byteLength(prefix)
  const endBytes = startBytes + Buffer.byteLength(metadataText)
  const body = Buffer.allocUnsafeSlow(endBytes + Buffer.byteLength(suffix))
  body.write(prefix, 0)
  body.write(metadataText, startBytes)
  body.write(suffix, endBytes)
  return { body, startBytes, endBytes }
}

/**
 * The weak ETag of a loadTable answer. A location is written once, so it stands for the metadata; the view and the
 * shape of the body are the rest of what an answer is made from.
 */
export function loadETag(location: string, view: MetadataView): string {
  const hash = createHash('sha256').update(`${BODY_SHAPE}\n${view}\n${location}`)
  return `W/"${hash.digest('base64url').slice(0, 22)}"`
}
