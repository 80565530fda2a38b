import { Buffer } from 'node:buffer'
import { loadViewResultText } from '@timelake/iceberg/rest/load-view-json'
import { decodeViewMetadata, encodeViewMetadata } from '@timelake/iceberg/view/view-metadata-json'
import type { ViewMetadata } from '@timelake/iceberg/view/view-metadata'

const VIEW_CONFIG = {}

/**
 * The metadata of a view at one location with the answer of loadView made from it, encoded once and kept. Without an
 * ETag: the protocol has none for views.
 */
export class LoadedView {
  readonly location: string
  readonly metadata: ViewMetadata
  #body: Buffer | undefined

  constructor(location: string, metadata: ViewMetadata) {
    this.location = location
    this.metadata = metadata
  }

  /** The LoadViewResult as UTF-8 JSON. */
  body(): Buffer {
    this.#body ??= Buffer.from(
      loadViewResultText({
        metadataLocation: this.location,
        metadataText: encodeViewMetadata(this.metadata),
        config: VIEW_CONFIG,
      }),
    )
    return this.#body
  }

  /** The content of the metadata file. */
  fileBytes(): readonly Uint8Array[] {
    return [Buffer.from(encodeViewMetadata(this.metadata))]
  }
}

/** The view metadata in the text of the file at the location. Throws InvalidInputError. */
export function decodeLoadedView(location: string, text: Uint8Array): LoadedView {
  return new LoadedView(location, decodeViewMetadata(text))
}
