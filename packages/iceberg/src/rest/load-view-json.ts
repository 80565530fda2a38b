import { object, optional, stringMap, text } from '../spec/decode.ts'
import { parseJson, printJson } from '../spec/json.ts'
import { decodeViewMetadataJson } from '../view/view-metadata-json.ts'
import type { ViewMetadata } from '../view/view-metadata.ts'

/** The answer to load, create, register and commit of a view. Spec: REST catalog, LoadViewResult. */
export interface LoadViewResult {
  readonly metadataLocation: string
  readonly metadata: ViewMetadata
  readonly config: Readonly<Record<string, string>>
}

/** Reads the answer to load, create, register or commit. Throws InvalidInputError naming the member. */
export function decodeLoadViewResult(body: string): LoadViewResult {
  const raw = object(parseJson(body), 'response')
  return {
    metadataLocation: text(raw['metadata-location'], 'metadata-location'),
    metadata: decodeViewMetadataJson(raw['metadata'], 'metadata'),
    config: optional(raw['config'], 'config', stringMap) ?? {},
  }
}

/** The text of the answer around the text of the metadata. */
export function loadViewResultText(parts: {
  readonly metadataLocation: string
  readonly metadataText: string
  readonly config: Readonly<Record<string, string>>
}): string {
  const location = printJson(parts.metadataLocation)
  return `{"metadata-location":${location},"metadata":${parts.metadataText},"config":${printJson(parts.config)}}`
}
